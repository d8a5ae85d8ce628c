// `pgtail slots` and its subcommands: names and help.

import type { Command } from 'commander';
import {
  checkFirstWord,
  checkNothingBeforeCommand,
  newInspectionCommand,
  type Run,
} from './command.ts';
import type { RawOptions } from './raw-options.ts';

export function slotsCommand(run: Run): Command {
  const slots = newInspectionCommand('slots')
    .description('list the replication slots of a server with what they cost it, and their health')
    .usage('[OPTIONS] [CONNINFO]\n       pgtail slots create|drop|advance …')
    .argument('[conninfo]', 'database name, key=value string or URI')
    .option('--watch [seconds]', 'look again so often (2), until Ctrl-C')
    .enablePositionalOptions()
    .helpCommand('help [command]', 'print help');
  slots.addHelpText('after', EXIT_CODES);
  slots.action(async (conninfo: string | undefined, options: RawOptions) => {
    checkNothingBeforeCommand(slots);
    checkFirstWord(slots);
    const names = slots.commands.map((command) => command.name());
    const { runSlotsCommand } = await import('./slots-command.ts');
    run.ended(await runSlotsCommand({ conninfo, ...options }, names, run.signal));
  });
  for (const command of [createCommand(run), dropCommand(run), advanceCommand(run)]) {
    slots.addCommand(command);
  }
  return slots;
}

function createCommand({ signal }: Run): Command {
  const create = newInspectionCommand('create')
    .description('create a logical slot, which keeps WAL from now on until it is read or dropped')
    .argument('<name>', '1 to 63 of the characters a-z, 0-9 and _')
    .optionsGroup('Slot:')
    .option('--plugin <name>', 'output plugin', 'pgoutput')
    .option('--two-phase', 'send prepared transactions when they are prepared')
    .option('--failover', 'let standbys keep a copy of it, for after a promotion (17+)')
    .option('--temporary <no>', 'no: a temporary slot would be gone at the end of this command');
  create.action(async (name: string, options: RawOptions) => {
    checkNothingBeforeCommand(create);
    const { runCreateCommand } = await import('./slots-create-command.ts');
    await runCreateCommand({ name, ...options }, signal);
  });
  return create;
}

function dropCommand({ signal }: Run): Command {
  const drop = newInspectionCommand('drop')
    .description('drop slots, unless they are being read: asks for each on a terminal')
    .argument('<name...>', 'names of slots')
    .option('--yes', 'drop them without asking');
  drop.action(async (name: readonly string[], options: RawOptions) => {
    checkNothingBeforeCommand(drop);
    const { runDropCommand } = await import('./slots-drop-command.ts');
    await runDropCommand({ name, ...options }, signal);
  });
  return drop;
}

function advanceCommand({ signal }: Run): Command {
  const advance = newInspectionCommand('advance')
    .description('move a slot forward: what lies before is lost for whoever reads it (11+)')
    .argument('<name>', 'name of the slot')
    .argument('<lsn>', 'position to move it to, as in 16/B374D848')
    .option('--yes', 'skip what was not read without asking');
  advance.action(async (name: string, lsn: string, options: RawOptions) => {
    checkNothingBeforeCommand(advance);
    const { runAdvanceCommand } = await import('./slots-advance-command.ts');
    await runAdvanceCommand({ name, lsn, ...options }, signal);
  });
  return advance;
}

const EXIT_CODES = `
Exit codes: 0 all is well, 2 usage, 3 cannot connect, 4 something needs attention or cannot be done,
5 slot in use, 6 slot missing or unusable, 8 cannot write.`;
