// `pgtail slots` on a terminal: the list, the picture that is drawn again, and questions.

import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PGTAIL, PgtailProcess, shellWords, startPgtail } from '../support/pgtail.ts';
import { runOnTerminal, startOnTerminal, temporaryFolder } from '../support/pty.ts';
import { startPrivateServer } from '../support/server.ts';
import { Shop } from '../support/tail.ts';
import { until } from '../support/until.ts';

const HIDE_CURSOR = '\x1b[?25l';
const SHOW_CURSOR = '\x1b[?25h';
const NO_WRAP = '\x1b[?7l';
const WRAP = '\x1b[?7h';

/** Types the answers before they are asked for, as they would be on a slow connection. */
function answering(answers: string, args: readonly string[]): PgtailProcess {
  const command = shellWords([process.execPath, PGTAIL, ...args]);
  const script = shellWords(['script', '-qefc', command, '/dev/null']);
  return new PgtailProcess('bash', ['-c', `printf ${shellWords([answers])} | ${script}`], {
    env: { TERM: 'xterm-256color', SHELL: '/bin/sh' },
  });
}

/** `keyboard` is a named pipe. */
function typedInto(keyboard: string, args: readonly string[]): PgtailProcess {
  const command = shellWords([process.execPath, PGTAIL, ...args]);
  const script = shellWords(['script', '-qefc', command, '/dev/null']);
  return new PgtailProcess('bash', ['-c', `${script} < ${shellWords([keyboard])}`], {
    env: { TERM: 'xterm-256color', SHELL: '/bin/sh' },
  });
}

const names = async (shop: Shop): Promise<string[]> => {
  const rows = await shop.database.query<{ name: string }>(
    `SELECT slot_name AS name FROM pg_replication_slots
     WHERE database = current_database() ORDER BY slot_name`,
  );
  return rows.map(({ name }) => name);
};

it.concurrent('the list is a table on a terminal, and JSON there is indented', async () => {
  await using shop = await Shop.open();
  const pretty = await runOnTerminal(['slots', ...shop.database.options], { columns: 100 });
  expect(pretty.screen).toMatch(/PostgreSQL \d+[.\d]*: \d+ of \d+ slots used/);
  expect(pretty.screen).toContain(shop.slot);
  const json = await runOnTerminal(['slots', '--format', 'json', ...shop.database.options]);
  expect(json.screen).toMatch(/^\{\r\n {2}"version": 1,\r\n {2}"command": "slots",/);
});

describe.concurrent('slots --watch on a terminal', () => {
  it('draws in place, and gives the cursor back after Ctrl-C with exit code 0', async () => {
    await using shop = await Shop.open();
    const args = ['slots', '--watch', '0.2', ...shop.database.options];
    await using child = startOnTerminal(args, { columns: 100 });
    await child.output(/\x1b\[H[\s\S]*\x1b\[H/); // drawn twice
    process.kill(await pidOf(child), 'SIGINT');
    const { code, stdout } = await child.exited;
    expect(code).toBe(0);
    expect(stdout.startsWith(HIDE_CURSOR + NO_WRAP)).toBe(true);
    expect(stdout).toContain(shop.slot);
    expect(stdout.endsWith(`${SHOW_CURSOR}${WRAP}\r\n`)).toBe(true);
    // cleared once: what is drawn later is drawn over
    expect(stdout.split('\x1b[2J')).toHaveLength(2);
  });

  it('draws again at once when the terminal gets another size', async () => {
    await using shop = await Shop.open();
    const args = ['slots', '--watch', '3600', ...shop.database.options];
    await using child = startOnTerminal(args, { columns: 200 });
    await child.output(/\x1b\[J/);
    const pid = await pidOf(child);
    const terminal = `/proc/${pid}/fd/1`;
    expect(spawnSync('stty', ['-F', terminal, 'cols', '50', 'rows', '4']).status).toBe(0);
    const again = await child.output(/… \d+ more lines\x1b\[K\x1b\[J/);
    const frame = child.stdout.slice(child.stdout.lastIndexOf('\x1b[H'));
    expect(frame.split('\r\n')).toHaveLength(4);
    expect(frame).toContain(again);
    process.kill(pid, 'SIGINT');
    expect((await child.exited).code).toBe(0);
  });

  it('says above what was seen last that the server is away, until it is back', async () => {
    await using own = await startPrivateServer();
    const { host, port, user } = own;
    const where = ['-h', host, '-p', String(port), '-U', user, '-d', 'postgres'];
    await using child = startOnTerminal(['slots', '--watch', '0.1', ...where], { columns: 100 });
    await child.output(/slots used/);
    await own.shutDown('fast');
    await child.output(/! [^\n]*connection refused[\s\S]*trying to connect again/);
    expect(lastFrame(child)).toMatch(/as last seen:[\s\S]*slots used/);
    await own.start();
    await until(() => !lastFrame(child).includes('trying to connect again'));
    expect(lastFrame(child)).toContain('slots used');
    process.kill(await pidOf(child), 'SIGINT');
    expect((await child.exited).code).toBe(0);
  });

  it('says above what was seen last that the server does not answer, until it does', async () => {
    // what is stopped in the middle of a look may hold what others wait for
    await using own = await startPrivateServer();
    await using shop = await Shop.open(own);
    const args = ['slots', '--watch', '0.1', ...shop.database.options];
    await using child = startOnTerminal(args, { columns: 100 });
    await using pipe = startPgtail(args);
    await child.output(/slots used/);
    await pipe.output(/\n/);
    const looking = await lookingAt(shop);
    for (const session of looking) process.kill(session, 'SIGSTOP');
    try {
      await child.output(/! the server has not answered for [^\n]*; as last seen:/);
      expect(lastFrame(child)).toContain('slots used');
      await pipe.notice(/the server has not answered for .*: still waiting\n/);
    } finally {
      for (const session of looking) process.kill(session, 'SIGCONT');
    }
    await until(() => !lastFrame(child).includes('not answered'));
    await pipe.notice(/the server answers again\n/);
    process.kill(await pidOf(child), 'SIGINT');
    expect((await child.exited).code).toBe(0);
    expect(await pipe.stop()).toMatchObject({ code: 0 });
  });

  it('leaves the terminal alone when it cannot begin', async () => {
    const args = ['slots', '--watch', '-h', '/nonexistent', '-d', 'shop', '-U', 'clerk'];
    const { code, screen } = await runOnTerminal(args);
    expect(code).toBe(3);
    expect(screen).not.toContain('\x1b');
  });
});

/** The server's processes for the two sessions of the program. */
async function lookingAt({ database }: Shop): Promise<readonly number[]> {
  const rows = await database.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'pgtail'`,
  );
  expect(rows).toHaveLength(2);
  return rows.map(({ pid }) => pid);
}

/** The latest that is complete. */
function lastFrame({ stdout }: PgtailProcess): string {
  const end = stdout.lastIndexOf('\x1b[J');
  return stdout.slice(stdout.lastIndexOf('\x1b[H', end), end);
}

/** `script` has one child: the program. */
async function pidOf(child: PgtailProcess): Promise<number> {
  const path = `/proc/${child.pid}/task/${child.pid}/children`;
  return await until(() => Number(readFileSync(path, 'utf8').trim()));
}

describe.concurrent('a question', () => {
  it('is asked for each slot that is to be dropped, and only a yes counts', async () => {
    await using shop = await Shop.open();
    for (const n of [2, 3]) await shop.createSlot(`${shop.slot}_${n}`);
    const asked = [shop.slot, `${shop.slot}_2`, `${shop.slot}_3`];
    const args = ['slots', 'drop', ...asked, ...shop.database.options];
    await using child = answering('y\\nn\\n\\n', args);
    const { code, stdout } = await child.exited;
    expect(code).toBe(0);
    expect(stdout).toMatch(
      new RegExp(
        `drop slot ${shop.slot} \\(pgoutput in database ${shop.database.name}, keeps .* of WAL\\)\\? \\[y/N\\]`,
      ),
    );
    expect(stdout).toContain(`dropped slot ${shop.slot}\r\nleft slot ${shop.slot}_2\r\n`);
    expect(await names(shop)).toEqual(asked.slice(1));
  });

  it('says what was dropped before one failed that was read meanwhile', async () => {
    await using shop = await Shop.open();
    const [first, second, third] = [1, 2, 3].map((n) => `${shop.slot}_${n}`) as [
      string,
      string,
      string,
    ];
    for (const name of [first, second, third]) await shop.createSlot(name);
    using folder = temporaryFolder();
    const keyboard = join(folder.path, 'keyboard');
    execFileSync('mkfifo', [keyboard]);
    const args = ['slots', 'drop', first, second, third, ...shop.database.options];
    await using child = typedInto(keyboard, args);
    const typist = await open(keyboard, 'w');
    await child.output(new RegExp(`drop slot ${first} `));
    await using tail = startPgtail([...shop.database.options, '-S', second, '-P', 'shop']);
    await tail.started();
    await typist.write('y\ny\ny\n');
    const { code, stdout } = await child.exited;
    await typist.close();
    expect(code).toBe(5);
    expect(stdout).toContain(
      `dropped slot ${first}\r\nleft slot ${second}\r\nleft slot ${third}\r\n`,
    );
    expect(stdout).toContain(`pgtail: slot "${second}" is being read by the consumer with PID`);
    expect(await names(shop)).toEqual([shop.slot, second, third]);
  });

  it('that nobody answers is a no', async () => {
    await using shop = await Shop.open();
    const args = ['slots', 'drop', shop.slot, ...shop.database.options];
    const { code, screen } = await runOnTerminal(args); // its input is at its end
    expect(code).toBe(0);
    expect(screen).toContain(`left slot ${shop.slot}`);
    expect(await names(shop)).toEqual([shop.slot]);
  });

  it.skipIf(Number(process.env.PGTAIL_TEST_MAJOR || 18) < 11)(
    'is asked before changes are skipped',
    async () => {
      await using shop = await Shop.open();
      await shop.orderMany(1, 1000);
      const [row] = await shop.database.query<{ lsn: string }>(
        'SELECT pg_current_wal_lsn()::text AS lsn',
      );
      const args = ['slots', 'advance', shop.slot, row!.lsn, ...shop.database.options];
      const before = await shop.confirmed();
      await using no = answering('n\\n', args);
      expect((await no.exited).stdout).toMatch(/skip .* kB of WAL, from .* to .*\? \[y\/N\]/);
      expect(await shop.confirmed()).toBe(before);
      await using yes = answering('yes\\n', args);
      expect((await yes.exited).stdout).toMatch(/advanced slot .* → .* of WAL skipped/);
      expect(await shop.confirmed()).toBeGreaterThan(before);
    },
  );
});
