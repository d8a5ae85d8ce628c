// Help, version and every mistake on the command line: one line on stderr, nothing on stdout.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commandOptions } from '../../src/cli/options.ts';
import { PGTAIL, runPgtail, runShell } from '../support/pgtail.ts';

const { version } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { version: string };

/** A closed port: whoever connects instead of complaining fails with exit code 3. */
const NOWHERE = { PGHOST: '127.0.0.1', PGPORT: '1' };
const nobody = { env: {}, userName: 'nobody', exists: () => false };

async function mistake(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runPgtail(args, { env: NOWHERE });
  expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: '' });
  expect(stderr).toMatch(/^pgtail: [^\n]+\n$/);
  return stderr.slice('pgtail: '.length, -1);
}

describe.concurrent('help', () => {
  it.each(['--help', '-?'])('is printed on standard output by %s', async (flag) => {
    const { code, stdout, stderr } = await runPgtail([flag]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Usage: pgtail \[OPTIONS\] \[CONNINFO\]/);
    for (const option of ['-S, --slot', '-P, --publication', '-h, --host', '--no-follow']) {
      expect(stdout).toContain(option);
    }
    for (const code of [0, 1, 2, 3, 4, 5, 6, 7, 8, 130]) {
      expect(stdout).toMatch(new RegExp(`\\b${code} [a-z]`));
    }
  });

  it('of the demo is printed by pgtail demo --help', async () => {
    const { code, stdout } = await runPgtail(['demo', '--help']);
    expect(code).toBe(0);
    expect(stdout).toContain('--once');
  });

  it('of the slots commands is printed by pgtail slots --help and its like', async () => {
    const list = await runPgtail(['slots', '-?']);
    expect(list).toMatchObject({ code: 0, stdout: expect.stringMatching(/--watch/), stderr: '' });
    expect(await runPgtail(['slots', 'help'])).toEqual(list);
    expect(await runPgtail(['help', 'slots'])).toEqual(list);
    for (const [command, option] of [
      ['create', '--failover'],
      ['drop', '--yes'],
      ['advance', '--yes'],
    ] as const) {
      expect(list.stdout).toContain(`\n  ${command} `);
      const { code, stdout } = await runPgtail(['slots', command, '--help']);
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(option) });
    }
  });

  it.each([[], ['slots'], ['slots', 'create'], ['slots', 'advance']])(
    'fits into 100 columns: %s %s',
    async (...command) => {
      const { stdout } = await runPgtail([...command, '--help']);
      expect(stdout.split('\n').filter((line) => line.length > 100)).toEqual([]);
    },
  );

  it('may be left unread: a reader that closes its end is no internal error', async () => {
    const { stdout, stderr } = await runShell(
      'for i in 1 2 3; do pgtail --help | true; echo "$PIPESTATUS"; done',
    );
    expect({ stdout, stderr }).toEqual({ stdout: '0\n0\n0\n', stderr: '' });
  });

  it('that cannot be written is exit code 8', async () => {
    const { code, stderr } = await runShell('pgtail --help > /dev/full');
    expect({ code, stderr }).toEqual({
      code: 8,
      stderr: expect.stringMatching(/^pgtail: cannot write to standard output: no space left/),
    });
  });
});

it.concurrent.each(['--version', '-V'])('prints its version with %s', async (flag) => {
  expect(await runPgtail([flag])).toEqual({
    code: 0,
    signal: null,
    stdout: `${version}\n`,
    stderr: '',
  });
});

describe.concurrent('a mistake on the command line', () => {
  it('in an option suggests the right one', async () => {
    expect(await mistake('--slto', 'audit')).toBe("unknown option '--slto' (did you mean --slot?)");
    expect(await mistake('demo', '--onec')).toBe("unknown option '--onec' (did you mean --once?)");
  });

  it('in an option that resembles none points to the help', async () => {
    expect(await mistake('--wal2json')).toMatch(/--help/);
    expect(await mistake('-Z')).toMatch(/--help/);
  });

  it('is an option without its value', async () => {
    expect(await mistake('--slot')).toMatch(/--slot/);
  });

  it.each([
    [['--slot', 'Audit'], /--slot.*a-z, 0-9 and _/],
    [['--slot', 'a'.repeat(64)], /--slot.*63/],
    [['--slot', "x'; DROP TABLE orders; --"], /--slot/],
    [['--slot', ''], /--slot/],
    [['--publication', ''], /--publication/],
    [['--format', 'josn'], /--format.*auto, pretty, ndjson/],
    [['--color', 'yes'], /--color.*auto, always, never/],
    [['--limit', '0'], /--limit.*whole number/],
    [['--limit', '1.5'], /--limit/],
    [['--limit', 'ten'], /--limit/],
    [['--limit', '-1'], /--limit/],
    [['--op', 'upsert'], /--op.*insert, update, delete/],
    [['--op', ''], /--op/],
    [['--table', 'a.b.c'], /--table.*schema\.table/],
    [['--table', ''], /--table/],
    [['--table', '"orders'], /--table/],
    [['--status-interval', 'soon'], /--status-interval.*seconds/],
    [['--status-interval', '-1'], /--status-interval/],
    [['-p', '0'], /port.*65535/],
    [['-p', '65536'], /port/],
    [['-p', 'abc'], /port/],
    [['--create-slot'], /--create-slot.*--slot/],
    [['--rotate-size', '1M'], /--rotate-size needs a file.*-f, --file/],
    [['--fsync-interval', '5', '-f', '-'], /--fsync-interval needs a file/],
    [['--rotate-size', '1M', '-S', 's', '-f', 'x', '--format', 'pretty'], /--rotate-size.*ndjson/],
    [['shop', 'warehouse'], /argument/],
    [['shop', '-d', 'warehouse'], /-d/],
    [['host=localhost nonsense'], /name=value/],
    [['postgresql://localhost/shop?wobble=1'], /"wobble"/],
    [['postgresql://localhost/%zz'], /%/],
    [['sslmode=sometimes'], /sslmode.*verify-full/],
    [['connect_timeout=soon'], /connect_timeout/],
    [['demo', '--format', 'xml'], /--format/],
    [['--format', 'ndjson', 'demo'], /--format.*before the command.*demo --help/],
    [['demo', 'shop'], /argument/],
    [['slots', '--format', 'ndjsn'], /--format.*auto, pretty, json/],
    [['slots', '--color', 'yes'], /--color.*auto, always, never/],
    [['slots', '--watch', 'shop'], /--watch.*seconds/],
    [['slots', '--watch', '0'], /--watch.*seconds, 0\.1 to 999999/],
    [['slots', '--watch', '1e9'], /--watch.*seconds, 0\.1 to 999999/],
    [['--status-interval', '1000000'], /--status-interval.*seconds, 0 to 999999/],
    [['slots', 'shop', '-d', 'shop'], /-d/],
    [['slots', 'shop', 'warehouse'], /argument.*pgtail slots --help/],
    [['doctor', 'shop', 'warehouse'], /argument.*pgtail doctor --help/],
    [['slots', '-d', 'shop', 'drop', 'audit'], /before the command.*pgtail slots drop --help/],
    [['-d', 'shop', 'slots'], /before the command.*pgtail slots --help/],
    [['slots', 'create'], /argument.*name.*pgtail slots create --help/],
    [['slots', 'create', 'Audit'], /NAME.*a-z, 0-9 and _/],
    [
      ['slots', 'create', 'audit', '--temporary', 'yes'],
      /--temporary.*gone when this command ends/,
    ],
    [['slots', 'create', 'audit', '--plugin', 'a"b'], /--plugin.*library/],
    [['slots', 'drop'], /argument.*name/],
    [['slots', 'drop', 'audit', "x'y"], /NAME.*a-z, 0-9 and _/],
    [['slots', 'drop', 'audit'], /--yes/],
    [['slots', 'advance', 'audit'], /argument.*lsn/],
    [['slots', 'advance', 'audit', 'now'], /LSN.*16\/B374D848/],
  ] as const)('%j names the option and the fix', async (args, expected) => {
    expect(await mistake(...args)).toMatch(expected);
  });

  it('in a connection string never shows the password in it', async () => {
    const told = await mistake('postgresql://clerk:s3cr3t@localhost/%zz');
    expect(told).not.toContain('s3cr3t');
    expect(await mistake('password=s3cr3t host')).not.toContain('s3cr3t');
  });

  it('in a variable names the option too', async () => {
    const env = { ...NOWHERE, PGTAIL_FORMAT: 'xml' };
    const { code, stderr } = await runPgtail([], { env });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/--format/) });
  });
});

describe.concurrent('a mistyped command', () => {
  it.each(['demp', 'deom', 'Demo', 'slot', 'doctr', 'decode'])(
    'such as %s is not taken for a database',
    async (word) => {
      expect(await mistake(word)).toMatch(new RegExp(`"${word}".*-d ${word}`));
    },
  );

  it.each(['decode', 'slot'])('such as %s has no help, either', async (word) => {
    const told = await mistake(word);
    expect(await mistake(word, '--help')).toBe(told);
    expect(await mistake('-d', 'shop', word, '-?')).toBe(told);
    expect(await mistake('help', word)).toBe(told);
  });

  it.each(['crate', 'drp', 'advanced'])('such as slots %s is not either', async (word) => {
    expect(await mistake('slots', word)).toMatch(
      new RegExp(`"${word}".*did you mean "pgtail slots (create|drop|advance)".*-d ${word}`),
    );
  });

  it.each([
    [['slots', 'dorp', 'audit'], 'slots drop'],
    [['slots', 'CREATE', 'audit', '--two-phase'], 'slots create'],
    [['slots', 'Drop', 'audit', '--yes'], 'slots drop'],
    [['identiy', 'orders', 'customers'], 'identity'],
    [['doctor2', '--fix'], 'doctor'],
  ] as const)('is what is wrong with %j, not what follows it', async (args, meant) => {
    expect(await mistake(...args)).toMatch(
      new RegExp(`unknown command ".*" \\(did you mean "pgtail ${meant}"`),
    );
  });

  it('suggests a command that exists', async () => {
    expect(await mistake('slot')).toMatch(/did you mean "pgtail slots"\?/);
    expect(await mistake('decod')).not.toMatch(/did you mean/);
  });

  it.each(['dev', 'shop', 'test', 'store', 'stats', 'de', 'actor'])(
    'is not what a database called %s is',
    async (word) => {
      const { code } = await runPgtail([word], { env: NOWHERE });
      expect(code).toBe(3);
    },
  );
});

const NAMELESS_UID = 54_321;

/** Only root can become somebody else, who must be able to read the program then. */
function canRunNameless(): boolean {
  const account = { uid: NAMELESS_UID, gid: NAMELESS_UID };
  return (
    process.getuid?.() === 0 &&
    spawnSync(process.execPath, [PGTAIL, '--version'], { ...account, cwd: '/' }).status === 0
  );
}

it.skipIf(!canRunNameless())(
  'runs under a user id that has no name, as containers do',
  async () => {
    const options = { env: NOWHERE, uid: NAMELESS_UID, cwd: '/' };
    const named = await runPgtail(['-U', 'clerk', '-d', 'shop'], options);
    expect(named).toMatchObject({ code: 3, stderr: expect.stringContaining('connection refused') });
    const unnamed = await runPgtail(['-d', 'shop'], options);
    expect(unnamed).toMatchObject({ code: 2, stderr: expect.stringMatching(/-U/) });
  },
);

describe.concurrent('json and ndjson', () => {
  it.each(['slots', 'doctor', 'identity'])('are the same to %s', async (command) => {
    const env = { ...NOWHERE, PGTAIL_FORMAT: 'ndjson' };
    const shop = ['-d', 'shop'];
    expect(await runPgtail([command, ...shop], { env })).toMatchObject({ code: 3 });
    const typed = [command, ...shop, '--format', 'ndjson'];
    expect(await runPgtail(typed, { env: NOWHERE })).toMatchObject({ code: 3 });
  });

  it('are the same to a tail', async () => {
    const env = { ...NOWHERE, PGTAIL_FORMAT: 'json' };
    expect(await runPgtail(['-d', 'shop'], { env })).toMatchObject({ code: 3 });
    expect(commandOptions({ format: 'json' }, nobody, true).format).toBe('ndjson');
  });
});

it.concurrent('takes what a variable says of files for those runs that write one', async () => {
  const env = { ...NOWHERE, PGTAIL_ROTATE_SIZE: '1M' };
  expect(await runPgtail(['-d', 'shop'], { env })).toMatchObject({ code: 3 });
});

it.concurrent('names host and port of a server that is not there', async () => {
  const tcp = await runPgtail(['-d', 'shop'], { env: NOWHERE });
  expect(tcp).toMatchObject({ code: 3, stdout: '' });
  expect(tcp.stderr).toMatch(/^pgtail: cannot connect to 127\.0\.0\.1:1: connection refused\n/);
  for (const command of [
    ['slots'],
    ['slots', 'create', 'audit'],
    ['slots', 'drop', 'a', '--yes'],
  ]) {
    expect(await runPgtail([...command, '-d', 'shop'], { env: NOWHERE })).toEqual(tcp);
  }
  const socket = await runPgtail(['-h', '/nonexistent', '-d', 'shop']);
  expect(socket).toMatchObject({ code: 3 });
  expect(socket.stderr).toContain('/nonexistent/.s.PGSQL.5432');
});

it.concurrent('gives a host that does not answer up after connect_timeout', async () => {
  // reserved for documentation: nobody answers
  const conninfo = 'host=192.0.2.1 dbname=shop connect_timeout=1';
  const { code, stderr } = await runPgtail([conninfo]);
  expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining('192.0.2.1:5432') });
});
