// How what is printed for people looks: its colours and its width, as standard output has them.

import type { ColorFlag } from '../terminal/color.ts';
import type { Theme } from '../terminal/theme.ts';

/** Chalk is loaded only for those who want colours and lines. */
export async function outputTheme(flag: ColorFlag, onTerminal: boolean): Promise<Theme> {
  const [{ createTheme }, { decideColorLevel }] = await Promise.all([
    import('../terminal/theme.ts'),
    import('../terminal/color.ts'),
  ]);
  return createTheme(decideColorLevel({ flag, env: process.env, isTTY: onTerminal }));
}

/** COLUMNS counts where there is no terminal to ask, as in psql. NaN: nobody says. */
export function outputColumns(onTerminal: boolean): number {
  return (onTerminal ? process.stdout.columns : undefined) ?? Number(process.env.COLUMNS);
}
