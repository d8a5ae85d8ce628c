// `pgtail doctor`: names and help.

import type { Command } from 'commander';
import {
  checkNothingBeforeCommand,
  collect,
  named,
  newInspectionCommand,
  type Run,
} from './command.ts';
import type { RawOptions } from './raw-options.ts';

export function doctorCommand(run: Run): Command {
  const doctor = newInspectionCommand('doctor')
    .description(
      'check server, role, publication, tables and slot: what would fail, and what mends it',
    )
    .usage('[OPTIONS] [CONNINFO]')
    .argument('[conninfo]', 'database name, key=value string or URI')
    .optionsGroup('What is to be read:')
    .addOption(named('-S, --slot <name>', 'slot to read; without it, a temporary one'))
    .addOption(
      named(
        '-P, --publication <name>',
        'publication to read (repeatable); without it, the only one',
      ).argParser(collect),
    )
    .addOption(named('--encoding <name>', 'read text as this encoding, unconverted by the server'));
  doctor.addHelpText('after', EXIT_CODES);
  doctor.action(async (conninfo: string | undefined, options: RawOptions) => {
    checkNothingBeforeCommand(doctor);
    const { runDoctorCommand } = await import('./doctor-command.ts');
    run.ended(await runDoctorCommand({ conninfo, ...options }, run.signal));
  });
  return doctor;
}

const EXIT_CODES = `
Exit codes: 0 all is well, 2 usage, 3 cannot connect, 4 something needs attention, 8 cannot write.`;
