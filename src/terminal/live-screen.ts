// A picture that is drawn again and again in the same place: the escape sequences for it.
// https://invisible-island.net/xterm/ctlseqs/ctlseqs.html

/** Hides the cursor and lets lines run off the right edge, so that each takes one row. */
const HIDE_CURSOR = '\x1b[?25l';
const NO_WRAP = '\x1b[?7l';
const SHOW_CURSOR = '\x1b[?25h';
const WRAP = '\x1b[?7h';
const CLEAR_SCREEN = '\x1b[2J';
const HOME = '\x1b[H';
const CLEAR_LINE_REST = '\x1b[K';
const CLEAR_SCREEN_REST = '\x1b[J';

export const ENTER_SCREEN = HIDE_CURSOR + NO_WRAP + CLEAR_SCREEN;

/** The last picture stays; whatever follows is written below it. */
export const LEAVE_SCREEN = `${SHOW_CURSOR}${WRAP}\n`;

/**
 * To be written at once: nothing is cleared before it is drawn over, so nothing flickers. What does
 * not fit into the rows is counted instead.
 */
export function screenFrame(lines: readonly string[], rows: number): string {
  const fits = lines.length <= rows;
  const shown = fits ? lines : lines.slice(0, Math.max(rows - 1, 0));
  const more = fits ? [] : [`… ${lines.length - shown.length} more lines`];
  return (
    HOME +
    [...shown, ...more].map((line) => line + CLEAR_LINE_REST).join('\r\n') +
    CLEAR_SCREEN_REST
  );
}
