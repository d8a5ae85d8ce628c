// `pgtail identity`: names and help.

import type { Command } from 'commander';
import {
  checkNothingBeforeCommand,
  collect,
  named,
  newInspectionCommand,
  type Run,
} from './command.ts';
import type { RawOptions } from './raw-options.ts';

export function identityCommand(run: Run): Command {
  const identity = newInspectionCommand('identity')
    .description('tell what the REPLICA IDENTITY of each table lets a consumer see, and what fails')
    .usage('[OPTIONS] [TABLE…]')
    .argument('[table...]', 'table or schema.table with * and ?; !pattern excludes (all tables)')
    .optionsGroup('Tables:')
    .addOption(
      named('-P, --publication <name>', 'only tables of this publication (repeatable)').argParser(
        collect,
      ),
    )
    .option(
      '--what-if',
      'measure what FULL would cost, on a copy of 100 rows in a transaction that is rolled back',
    );
  identity.addHelpText('after', EXIT_CODES);
  identity.action(async (table: readonly string[], options: RawOptions) => {
    checkNothingBeforeCommand(identity);
    const { runIdentityCommand } = await import('./identity-command.ts');
    run.ended(await runIdentityCommand({ table, ...options }, run.signal));
  });
  return identity;
}

const EXIT_CODES = `
Exit codes: 0 all is well, 2 usage, 3 cannot connect, 4 something needs attention or cannot be done,
8 cannot write.`;
