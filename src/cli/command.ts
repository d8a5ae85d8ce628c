// What all commands have in common: how help and mistakes look, and the options that several take.

import { Command, type CommanderError, Option, type OutputConfiguration } from 'commander';
import { EXIT, type ExitCode, PgtailError } from '../errors.ts';
import { checkNotMistypedCommand, RESERVED_COMMANDS } from './mistyped-command.ts';
import { printText } from './print-text.ts';

/** What a command is run with. */
export interface Run {
  /** The user's stop. */
  readonly signal: AbortSignal;
  /** A result that is no failure, and yet not 0. */
  readonly ended: (exitCode: ExitCode) => void;
}

const HELP_WIDTH = 100;

/** Always the same: to ask for width and colours commander would load `process.stdout`, for 3 ms. */
const PLAIN_OUTPUT: OutputConfiguration = {
  writeOut: printText,
  outputError: () => {},
  getOutHelpWidth: () => HELP_WIDTH,
  getErrHelpWidth: () => HELP_WIDTH,
  getOutHasColors: () => false,
  getErrHasColors: () => false,
};

/** Throws a CommanderError for what is no mistake: help or the version was printed. */
export function newCommand(name: string): Command {
  const command = new Command(name)
    .helpOption('-?, --help', 'print this help')
    .configureOutput(PLAIN_OUTPUT);
  return command.exitOverride((error) => {
    if (error.exitCode === 0) throw error;
    // what follows a mistyped command is wrong only because it is no command
    if (command.commands.length > 0) checkFirstWord(command);
    throw usageError(error, command);
  });
}

/** Of a command that has others. @throws PgtailError (usage) if its first word is a slip of one of them */
export function checkFirstWord(command: Command, word = command.args[0]): void {
  if (word === undefined) return;
  const path = pathTo(command);
  const commands = command.commands.map((each) => each.name());
  const reserved = command.parent === null ? RESERVED_COMMANDS : commands;
  checkNotMistypedCommand(word, commands, reserved, path.join(' '));
}

/** Commander's message is `error: unknown option '--slto'` and a suggestion on a second line. */
function usageError(error: CommanderError, command: Command): PgtailError {
  const [first = '', second] = error.message.split('\n');
  const suggestion = second?.replace(/^\((.*)\)$/, '$1').replace(/^Did/, 'did');
  return new PgtailError(EXIT.usage, first.replace(/^error: /, ''), {
    hint: suggestion ?? `${pathTo(command).join(' ')} --help lists the options`,
  });
}

/**
 * A command that looks at a server and says what it found, as a table for people or as one JSON
 * document: its options are checked by inspectionOptions().
 */
export function newInspectionCommand(name: string): Command {
  const command = newCommand(name);
  addConnectionOptions(command);
  return command
    .optionsGroup('Output:')
    .addOption(
      named('--format <format>', 'auto (pretty on a terminal, else json), pretty or json').default(
        'auto',
      ),
    )
    .addOption(named('--color <when>', 'auto, always or never').default('auto'))
    .option('-q, --quiet', 'no notices on standard error, only errors')
    .option('-v, --verbose', 'show more of what was found');
}

export function addConnectionOptions(command: Command): void {
  command
    .optionsGroup('Connection (as in psql; PG* variables count too):')
    .option('-d, --dbname <dbname>', 'database name, key=value string or URI')
    .option('-h, --host <host>', 'server host, or the folder of its Unix socket')
    .option('-p, --port <port>', 'server port')
    .option('-U, --username <role>', 'role to connect as');
}

/** An option that an environment variable can set too: --status-interval is PGTAIL_STATUS_INTERVAL. */
export function named(flags: string, description: string): Option {
  const option = new Option(flags, description);
  return option.env(`PGTAIL_${option.name().toUpperCase().replaceAll('-', '_')}`);
}

/** Repeated options collect; one from the environment is a single name. */
export const collect = (
  value: string,
  previous: readonly string[] | undefined,
): readonly string[] => [...(previous ?? []), value];

/** `pgtail --format ndjson demo`: an option of what stands before, which the command would not see. */
export function checkNothingBeforeCommand(command: Command): void {
  for (let outer = command.parent; outer !== null; outer = outer.parent) {
    const before = outer;
    const stray = before.options.find(
      (option) => before.getOptionValueSource(option.attributeName()) === 'cli',
    );
    if (stray === undefined) continue;
    throw new PgtailError(EXIT.usage, `option '${stray.flags}' stands before the command`, {
      hint: `${pathTo(command).join(' ')} --help lists the options that may follow it`,
    });
  }
}

/** `pgtail`, `slots`, `create` */
function pathTo(command: Command): string[] {
  return command.parent === null ? [command.name()] : [...pathTo(command.parent), command.name()];
}
