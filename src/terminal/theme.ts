// The colours of everything pgtail shows on a terminal, by role: the one file that knows chalk.

import { Chalk, type ChalkInstance } from 'chalk';
import type { ColorLevel } from './color.ts';

/** Wraps text that holds no escape sequence of its own, except `escape` marks, in a colour. */
export type Paint = (text: string) => string;

/**
 * Only the sixteen colours and attributes that each terminal lets its user choose, so that it is
 * readable on dark and on light. No role needs its colour to be understood.
 */
export interface Theme {
  readonly insert: Paint;
  readonly update: Paint;
  readonly delete: Paint;
  readonly truncate: Paint;
  readonly message: Paint;
  readonly schemaChange: Paint;
  readonly nullValue: Paint;
  readonly number: Paint;
  readonly boolean: Paint;
  readonly string: Paint;
  readonly json: Paint;
  readonly time: Paint;
  /** The name of a column that identifies rows, underlined as in an entity-relationship diagram. */
  readonly key: Paint;
  /** A value that was there before. */
  readonly oldValue: Paint;
  /** Frames, column names, sizes: what the eye should pass over. */
  readonly dim: Paint;
  readonly strong: Paint;
  readonly good: Paint;
  readonly warning: Paint;
  readonly error: Paint;
  /** What was shown and does not stand. */
  readonly struckOut: Paint;
  /** Tell transactions apart that are in progress at the same time; none is red, which warns. */
  readonly lanes: readonly Paint[];
  /**
   * An escape that stands for a character which must not reach the terminal, as `less` shows it.
   * Reverse video has an end of its own, so it may stand inside every other role.
   */
  readonly escape: Paint;
}

/** A theme for one colour level: nothing is read from the environment, nothing is shared. */
export function createTheme(level: ColorLevel): Theme {
  const chalk = new Chalk({ level });
  return Object.freeze({
    insert: painter(chalk.green),
    update: painter(chalk.yellow),
    delete: painter(chalk.red),
    truncate: painter(chalk.bold.red),
    message: painter(chalk.blue),
    schemaChange: painter(chalk.magenta),
    nullValue: painter(chalk.dim.italic),
    number: painter(chalk.cyan),
    boolean: painter(chalk.magenta),
    string: asIs,
    json: painter(chalk.blue),
    time: asIs,
    key: painter(chalk.dim.underline),
    oldValue: painter(chalk.dim),
    dim: painter(chalk.dim),
    strong: painter(chalk.bold),
    good: painter(chalk.green),
    warning: painter(chalk.yellow),
    error: painter(chalk.bold.red),
    struckOut: painter(chalk.strikethrough),
    lanes: [chalk.cyan, chalk.magenta, chalk.blue, chalk.yellow, chalk.green].map(painter),
    escape: painter(chalk.inverse),
  });
}

const asIs: Paint = (text) => text;

/** Chalk looks through every text for nested colours; we have none, so two constants do. */
function painter(style: ChalkInstance): Paint {
  const [open = '', close = ''] = style('|').split('|');
  if (open === '') return asIs;
  return (text) => open + text + close;
}
