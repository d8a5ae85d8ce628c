// `-f PATH`: every unit exactly once in the file, whatever happens to pgtail, the server or the file.

import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runPgtail, startPgtail } from '../support/pgtail.ts';
import { temporaryFolder } from '../support/pty.ts';
import { insertedIds, type Line, linesOf, lsnOf, Shop } from '../support/tail.ts';
import { until } from '../support/until.ts';

const read = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '');

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** How often the file is synced: soon, so that nothing waits for it. */
const SOON = ['--fsync-interval', '0.05'];

async function untilWritten(path: string, pattern: RegExp): Promise<void> {
  await until(async () => pattern.test(read(path)), { what: `${pattern} in the file` });
}

/** Ends of the units, in the order of the file. */
const ends = (lines: readonly Line[]): bigint[] =>
  lines.flatMap(({ op, end_lsn }) => (op === 'commit' ? [lsnOf(end_lsn!)] : []));

describe('a file', () => {
  it('has a header and whole transactions, and the slot stands at its end', async () => {
    await using shop = await Shop.open();
    using folder = temporaryFolder();
    const path = join(folder.path, 'out.ndjson');
    await shop.order(1);
    await shop.order(2, 3);
    const { code, stdout, stderr } = await runPgtail([...shop.args, '-f', path, '--no-follow']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toMatch(/^pgtail: publication .+\npgtail: slot .+ stays, .+\n$/);
    const text = read(path);
    const lines = linesOf(text);
    expect(lines[0]).toEqual({
      op: 'pgtail',
      version: 1,
      slot: shop.slot,
      system: expect.stringMatching(/^\d+$/),
      timeline: 1,
      after_lsn: expect.any(String),
    });
    expect(insertedIds(text)).toEqual([1, 2, 3]);
    expect(await shop.confirmed()).toBeGreaterThanOrEqual(ends(lines).at(-1)!);
  });

  it('goes on where it ended, however often it is begun and killed', async () => {
    await using shop = await Shop.open();
    using folder = temporaryFolder();
    const path = join(folder.path, 'out.ndjson');
    let next = 1;
    for (let round = 0; round < 8; round++) {
      await using child = startPgtail([...shop.args, '-f', path, '--fsync-interval', '0.2']);
      await child.started();
      for (let i = 0; i < 20; i++, next += 10) await shop.orderMany(next, next + 9);
      await untilWritten(path, new RegExp(`"id":${next - 1 - 10 * (round % 4)}\\b`));
      child.kill('SIGKILL');
      await child.exited;
      await until(async () => !(await shop.slotIsActive()));
    }
    const { code } = await runPgtail([...shop.args, '-f', path, '--no-follow']);
    expect(code).toBe(0);
    const text = read(path);
    expect(insertedIds(text)).toEqual(range(1, next - 1));
    expect(linesOf(text).filter(({ op }) => op === 'pgtail')).toHaveLength(1);
    expect(text).not.toContain('"op":"restart"');
  });

  it('holds nothing of a transaction that a stop or --limit cut', async () => {
    await using shop = await Shop.open();
    using folder = temporaryFolder();
    const path = join(folder.path, 'out.ndjson');
    await shop.order(1);
    await shop.orderMany(2, 2000);
    const args = [...shop.args, '-f', path];
    expect((await runPgtail([...args, '--limit', '500'])).code).toBe(0);
    expect(insertedIds(read(path))).toEqual([1]);
    expect((await runPgtail([...args, '--limit', '1999'])).code).toBe(0);
    expect(insertedIds(read(path))).toEqual(range(1, 2000));
  });

  it('forgets what a lost connection cut, and goes on with it whole', async () => {
    await using shop = await Shop.open();
    using folder = temporaryFolder();
    const path = join(folder.path, 'out.ndjson');
    await using child = startPgtail([...shop.args, '-f', path, ...SOON]);
    await child.started();
    await shop.order(1);
    await untilWritten(path, /"op":"commit"/);
    for (let from = 2; from < 40_000; from += 10_000) {
      await shop.orderMany(from, from + 9999);
      await shop.database.query(
        'SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = $1',
        [shop.slot],
      );
    }
    await untilWritten(path, /"id":40001\b[\s\S]*"op":"commit"/);
    const { code } = await child.stop();
    expect(code).toBe(0);
    const text = read(path);
    expect(insertedIds(text)).toEqual(range(1, 40_001));
    expect(text).not.toContain('"op":"restart"');
  });

  it('is acknowledged only once it is synced', async () => {
    await using shop = await Shop.open();
    using folder = temporaryFolder();
    const path = join(folder.path, 'out.ndjson');
    const before = await shop.confirmed();
    await using child = startPgtail([...shop.args, '-f', path, '--fsync-interval', '3600']);
    await child.started();
    await shop.order(1);
    await untilWritten(path, /"op":"commit"/);
    const [commit] = ends(linesOf(read(path)));
    const told = await shop.confirmed();
    expect(told).toBeLessThan(commit!);
    expect(told).toBeGreaterThanOrEqual(before);
    expect((await child.stop()).code).toBe(0);
    expect(await shop.confirmed()).toBeGreaterThanOrEqual(commit!);
  });

  it('keeps the ends of its transactions whatever --op names', async () => {
    await using shop = await Shop.open();
    using folder = temporaryFolder();
    const path = join(folder.path, 'out.ndjson');
    await shop.order(1);
    const args = [...shop.args, '-f', path, '--op', 'insert', '--no-follow'];
    await runPgtail(args);
    await shop.order(2);
    await runPgtail(args);
    expect(linesOf(read(path)).map(({ op }) => op)).toEqual([
      'pgtail',
      ...['insert', 'commit'],
      ...['insert', 'commit'],
    ]);
  });

  it('holds prepared transactions and messages once, too', async () => {
    await using shop = await Shop.open();
    if (shop.database.major < 15) return;
    using folder = temporaryFolder();
    const path = join(folder.path, 'out.ndjson');
    const gid = `${shop.database.name} one`;
    const args = [...shop.args, '-f', path, '--no-follow', '--two-phase', '--yes'];
    await shop.database.sql(`BEGIN; INSERT INTO orders VALUES (1); PREPARE TRANSACTION '${gid}'`);
    await shop.database.query(`SELECT pg_logical_emit_message(false, 'app', 'alone')`);
    await runPgtail(args);
    await runPgtail(args);
    await shop.database.sql(`COMMIT PREPARED '${gid}'`);
    await runPgtail(args);
    const ops = linesOf(read(path)).map(({ op }) => op);
    // a later header only says that the slot has moved on meanwhile
    expect(ops.filter((op) => op !== 'relation' && op !== 'pgtail')).toEqual([
      ...['begin_prepare', 'insert', 'prepare'],
      'message',
      'commit_prepared',
    ]);
  });
});

describe('a file that is not for this', () => {
  it('belongs to another slot: exit code 6, and it stays as it is', async () => {
    await using shop = await Shop.open();
    using folder = temporaryFolder();
    const path = join(folder.path, 'out.ndjson');
    await shop.order(1);
    await runPgtail([...shop.args, '-f', path, '--no-follow']);
    const before = read(path);
    await shop.createSlot(`${shop.slot}_2`);
    const other = [...shop.database.options, '-P', 'shop', '-S', `${shop.slot}_2`];
    const { code, stderr } = await runPgtail([...other, '-f', path, '--no-follow']);
    expect(code).toBe(6);
    expect(stderr).toContain(`belongs to slot "${shop.slot}"`);
    expect(read(path)).toBe(before);
  });

  it('was not written by pgtail: exit code 8, and it stays as it is', async () => {
    await using shop = await Shop.open();
    using folder = temporaryFolder();
    const path = join(folder.path, 'notes.txt');
    writeFileSync(path, 'dear diary\n');
    const { code, stderr } = await runPgtail([...shop.args, '-f', path, '--no-follow']);
    expect(code).toBe(8);
    expect(stderr).toContain('is not the header of a file written with -f');
    expect(read(path)).toBe('dear diary\n');
  });

  it('cannot be made: exit code 8', async () => {
    await using shop = await Shop.open();
    const { code, stderr } = await runPgtail([...shop.args, '-f', '/nonexistent/out.ndjson']);
    expect(code).toBe(8);
    expect(stderr).toMatch(
      /cannot open \/nonexistent\/out\.ndjson: .*\n.*the folder .* must exist/,
    );
  });

  it('leaves no slot behind that was to be made with it', async () => {
    await using shop = await Shop.open();
    using folder = temporaryFolder();
    const notes = join(folder.path, 'notes.txt');
    writeFileSync(notes, 'dear diary\n');
    const slot = `${shop.slot}_new`;
    const create = [...shop.database.options, '-P', 'shop', '-S', slot, '--create-slot'];
    for (const path of [notes, '/nonexistent/out.ndjson', '/proc/out.ndjson', folder.path]) {
      for (const format of ['ndjson', 'pretty']) {
        if (path === notes && format === 'pretty') continue; // appended to
        const { code } = await runPgtail([...create, '-f', path, '--format', format]);
        expect({ path, format, code }).toEqual({ path, format, code: 8 });
      }
    }
    const made = 'SELECT FROM pg_replication_slots WHERE slot_name = $1';
    expect(await shop.database.query(made, [slot])).toEqual([]);
  });

  it('goes on where a slot ends that is gone: exit code 6, and none is made in its place', async () => {
    await using shop = await Shop.open();
    using folder = temporaryFolder();
    const path = join(folder.path, 'out.ndjson');
    await shop.order(1);
    await runPgtail([...shop.args, '-f', path, '--no-follow']);
    const before = read(path);
    await shop.database.query('SELECT pg_drop_replication_slot($1)', [shop.slot]);
    const { code, stderr } = await runPgtail([...shop.args, '-f', path, '--create-slot']);
    expect({ code, file: read(path) }).toEqual({ code: 6, file: before });
    expect(stderr).toContain('would be missing in the file');
  });

  it.each([
    [['-f', 'x'], '--file needs a slot'],
    [['-f', 'x', '-S', 's', '--streaming', 'on'], '--file cannot be used with --streaming on'],
    [['-f', 'x', '-S', 's', '--rotate-size', 'big'], '--rotate-size'],
  ])('and options that do not go together are exit code 2: %j', async (args, message) => {
    const { code, stderr } = await runPgtail(args);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  it('is being written by another pgtail: exit code 5, and nothing happens to it', async () => {
    await using shop = await Shop.open();
    using folder = temporaryFolder();
    const path = join(folder.path, 'out.ndjson');
    await using child = startPgtail([...shop.args, '-f', path, ...SOON]);
    await child.started();
    await shop.order(1);
    await untilWritten(path, /"op":"commit"/);
    const second = await runPgtail([...shop.args, '-f', path]);
    expect(second.code).toBe(5);
    await shop.order(2);
    await untilWritten(path, /"id":2\b[\s\S]*"op":"commit"/);
    expect((await child.stop()).code).toBe(0);
    expect(insertedIds(read(path))).toEqual([1, 2]);
  });
});

describe('files that take turns', () => {
  it('begin when one is full, and tell together every row once', async () => {
    await using shop = await Shop.open();
    using folder = temporaryFolder();
    const path = join(folder.path, 'out.ndjson');
    const args = [...shop.args, '-f', path, '--rotate-size', '4k', '--no-follow'];
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 5; i++)
        await shop.orderMany(round * 50 + i * 10 + 1, round * 50 + i * 10 + 10);
      expect((await runPgtail(args)).code).toBe(0);
    }
    const numbers = readdirSync(folder.path).flatMap((name) => /\.(\d+)$/.exec(name)?.[1] ?? []);
    const paths = numbers.map(Number).sort((a, b) => a - b);
    expect(paths.length).toBeGreaterThan(3);
    const texts = [...paths.map((number) => read(`${path}.${number}`)), read(path)];
    for (const text of texts)
      expect(linesOf(text)[0]).toMatchObject({ op: 'pgtail', slot: shop.slot });
    expect(texts.flatMap(insertedIds)).toEqual(range(1, 150));
  });

  it('change on SIGHUP, after whoever renamed the old one', async () => {
    await using shop = await Shop.open();
    using folder = temporaryFolder();
    const path = join(folder.path, 'out.ndjson');
    await using child = startPgtail([...shop.args, '-f', path, ...SOON]);
    await child.started();
    await shop.order(1);
    await untilWritten(path, /"op":"commit"/);
    renameSync(path, `${path}.old`);
    child.kill('SIGHUP');
    await untilWritten(path, /"op":"pgtail"/);
    await shop.order(2);
    await untilWritten(path, /"op":"commit"/);
    expect((await child.stop()).code).toBe(0);
    expect([read(`${path}.old`), read(path)].map(insertedIds)).toEqual([[1], [2]]);
  });
});

describe('a file for people', () => {
  it('is appended to, and opened anew on SIGHUP', async () => {
    await using shop = await Shop.open();
    using folder = temporaryFolder();
    const path = join(folder.path, 'out.txt');
    writeFileSync(path, 'before\n');
    await using child = startPgtail([...shop.args, '-f', path, '--format', 'pretty']);
    await child.started();
    await shop.order(1);
    await untilWritten(path, /commit/);
    renameSync(path, `${path}.old`);
    child.kill('SIGHUP');
    await until(async () => existsSync(path));
    await shop.order(2);
    await untilWritten(path, /commit/);
    expect((await child.stop()).code).toBe(0);
    expect(read(`${path}.old`)).toMatch(/^before\n┌[\s\S]*order 1/);
    expect(read(path)).toMatch(/^┌[\s\S]*order 2/);
  });
});
