// Full files are renamed and renamed files are opened anew, between units; a crash at any step of
// it loses nothing and doubles nothing.

import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/errors.ts';
import { FileChanged } from '../../../src/output/ndjson-file/failure.ts';
import { type FileSystem, nodeFileSystem } from '../../../src/output/ndjson-file/file-system.ts';
import { temporaryFolder } from '../../support/pty.ts';
import { until } from '../../support/until.ts';
import { FileRun, POSITION } from './file-run.ts';
import { HeldFiles, noSpace } from './held-files.ts';
import { commitPrepared, header, prepared, transaction } from './lines.ts';

const HEAD = header(POSITION);
const FIRST = transaction(200n);
const SECOND = transaction(300n);
const THIRD = transaction(400n);
/** The first unit fills a file, its header alone does not. */
const ROTATE_SIZE = HEAD.length + 100;

const { rename } = nodeFileSystem;

function filesIn(run: FileRun): Record<string, string> {
  const folder = dirname(run.path);
  const names = readdirSync(folder).sort();
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

/** When the file has become PATH.number; the next one is there then. */
const renamed = (run: FileRun, number: string): Promise<unknown> =>
  until(() => `shop.ndjson.${number}` in filesIn(run));

describe('a full file', () => {
  it('is renamed when a unit ends, and the next one begins at the position', async () => {
    using run = new FileRun({ rotateSize: ROTATE_SIZE });
    run.unit(200n);
    run.unit(300n);
    run.write(THIRD.slice(0, 200));
    await run.output.sync();
    expect(filesIn(run)).toEqual({
      'shop.ndjson.1': HEAD + FIRST,
      'shop.ndjson.2': header(200n) + SECOND,
      'shop.ndjson': header(300n) + THIRD.slice(0, 200),
    });
    expect(run.output.safe).toBe(run.offset);
    expect(run.output.stillOurs()).toBe(true);
  });

  it('is filled with as many units as it takes, also when they come as one block', async () => {
    using run = new FileRun({ rotateSize: HEAD.length + 2 * Buffer.byteLength(FIRST) });
    const units = [200n, 300n, 400n].map((lsn) => ({ lsn, text: transaction(lsn) }));
    let end = 0;
    for (const { lsn, text } of units) {
      end += Buffer.byteLength(text);
      run.output.unitEnded(lsn, end);
    }
    run.write(FIRST + SECOND + THIRD);
    await run.output.sync();
    expect(filesIn(run)).toEqual({
      'shop.ndjson.1': HEAD + FIRST + SECOND,
      'shop.ndjson': header(300n) + THIRD,
    });
  });

  it('gets the number after the largest there is', async () => {
    using run = new FileRun({ rotateSize: ROTATE_SIZE });
    for (const suffix of ['1', '9', '10', '11.gz', 'old'])
      writeFileSync(`${run.path}.${suffix}`, '');
    run.unit(200n);
    await renamed(run, '11');
    expect(run.contents('.11')).toBe(HEAD + FIRST);
  });

  it('is renamed itself where a symbolic link leads to it', async () => {
    using folder = temporaryFolder();
    using elsewhere = temporaryFolder();
    symlinkSync(join(elsewhere.path, 'data'), join(folder.path, 'shop.ndjson'));
    using run = new FileRun({ rotateSize: ROTATE_SIZE }, folder);
    run.unit(200n);
    await until(() => readdirSync(elsewhere.path).length === 2);
    expect(run.contents()).toBe(header(200n));
    expect(readFileSync(join(elsewhere.path, 'data.1'), 'utf8')).toBe(HEAD + FIRST);
  });

  it('is not parted between a late prepare and its commit', async () => {
    using run = new FileRun({ rotateSize: ROTATE_SIZE });
    run.unit(90n, prepared(90n));
    run.unit(300n, commitPrepared(300n));
    await renamed(run, '1');
    expect(run.contents('.1')).toBe(HEAD + prepared(90n) + commitPrepared(300n));
  });

  it('is renamed also if what follows it is cut out', async () => {
    using run = new FileRun({ rotateSize: ROTATE_SIZE });
    run.unit(200n);
    run.write(SECOND.slice(0, 100));
    await run.output.cutBack();
    await renamed(run, '1');
    run.unit(300n);
    run.write(THIRD.slice(0, 100));
    await run.output.sync();
    await run.output.cutBack();
    expect(filesIn(run)).toEqual({
      'shop.ndjson.1': HEAD + FIRST,
      'shop.ndjson.2': header(200n) + SECOND,
      'shop.ndjson': header(300n),
    });
  });
});

it('leaves a full file to somebody else who renames it at that very moment', async () => {
  let others = 0;
  const files: FileSystem = {
    ...nodeFileSystem,
    rename: (from, to) => {
      rename(from, `${from}.old${others++}`);
      rename(from, to);
    },
  };
  using run = new FileRun({ files, rotateSize: 1 });
  run.unit(200n);
  await until(() => existsSync(`${run.path}.old0`) && existsSync(run.path));
  run.unit(300n);
  await run.output.sync();
  const all = Object.values(filesIn(run)).join('');
  expect(run.failures).toEqual([]);
  expect(all).toContain(FIRST);
  expect(all).toContain(SECOND);
});

/** The real file system; `calls` names what was done, in order, with the last part of the path. */
function recordedFiles(): { readonly files: FileSystem; readonly calls: string[] } {
  const calls: string[] = [];
  const names = new Map<number, string>();
  const note = (call: string, fd: number): void => void calls.push(`${call} ${names.get(fd)}`);
  const files: FileSystem = {
    ...nodeFileSystem,
    open: (path, flags, mode) => {
      const fd = nodeFileSystem.open(path, flags, mode);
      names.set(fd, nodeFileSystem.status(path).kind === 'folder' ? 'the folder' : basename(path));
      return fd;
    },
    rename: (from, to) => {
      calls.push(`rename to ${basename(to)}`);
      rename(from, to);
    },
    writeNow: (fd, bytes, position) => {
      note('header into', fd);
      return nodeFileSystem.writeNow(fd, bytes, position);
    },
    syncNow: (fd) => {
      note('sync', fd);
      nodeFileSystem.syncNow(fd);
    },
    write: (fd, bytes, position) => {
      note('write', fd);
      return nodeFileSystem.write(fd, bytes, position);
    },
    dataSync: (fd) => {
      note('sync', fd);
      return nodeFileSystem.dataSync(fd);
    },
  };
  return { files, calls };
}

it('syncs the file before it is renamed, and the folder after each new name', async () => {
  const { files, calls } = recordedFiles();
  using run = new FileRun({ files, rotateSize: ROTATE_SIZE, fsyncInterval: 600_000 });
  run.unit(200n);
  await renamed(run, '1');
  const created = ['header into shop.ndjson', 'sync shop.ndjson', 'sync the folder'];
  expect(calls).toEqual([
    ...created,
    'write shop.ndjson',
    'sync shop.ndjson',
    'rename to shop.ndjson.1',
    'sync the folder',
    ...created,
  ]);
});

/** The real file system until `step` is called; then nothing reaches it any more. */
function crashingAt(step: 'rename' | 'open' | 'writeNow'): FileSystem {
  let isArmed = false;
  const crash = (): never => {
    throw noSpace();
  };
  return {
    ...nodeFileSystem,
    rename: (from, to) => {
      isArmed = true;
      return step === 'rename' ? crash() : rename(from, to);
    },
    open: (path, flags, mode) => {
      const isCreation = isArmed && mode !== undefined;
      return isCreation && step === 'open' ? crash() : nodeFileSystem.open(path, flags, mode);
    },
    writeNow: (fd, bytes, position) => {
      if (!isArmed) return nodeFileSystem.writeNow(fd, bytes, position);
      nodeFileSystem.writeNow(fd, bytes.subarray(0, 30), position);
      return crash();
    },
  };
}

describe('a crash while a full file is renamed', () => {
  it.each([
    ['before the renaming', 'rename', { 'shop.ndjson': HEAD + FIRST + SECOND }],
    [
      'before the next file is there',
      'open',
      { 'shop.ndjson.1': HEAD + FIRST, 'shop.ndjson': header(200n) + SECOND },
    ],
    [
      'while its header is written',
      'writeNow',
      { 'shop.ndjson.1': HEAD + FIRST, 'shop.ndjson': header(200n) + SECOND },
    ],
  ] as const)('%s leaves what the next start goes on with', async (_name, step, after) => {
    using folder = temporaryFolder();
    using crashed = new FileRun({ rotateSize: ROTATE_SIZE, files: crashingAt(step) }, folder);
    crashed.unit(200n);
    const { exitCode, message } = await crashed.failure();
    expect(exitCode).toBe(EXIT.output);
    expect(message).toBe(`cannot write ${crashed.path}: no space left on device`);
    using run = new FileRun({}, folder);
    expect(run.output.position).toBe(200n);
    run.unit(300n);
    await run.output.sync();
    expect(filesIn(run)).toEqual(after);
  });
});

describe('reopening', () => {
  it('goes on in a new file if the old one was renamed', async () => {
    using run = new FileRun();
    run.unit(200n);
    rename(run.path, `${run.path}.old`);
    run.output.reopen();
    run.unit(300n);
    await run.output.sync();
    expect(filesIn(run)).toEqual({
      'shop.ndjson.old': HEAD + FIRST,
      'shop.ndjson': header(200n) + SECOND,
    });
  });

  it('waits for the end of the unit', async () => {
    const files = new HeldFiles();
    using run = new FileRun({ files });
    run.write(FIRST.slice(0, 100));
    await files.letGo('write');
    rename(run.path, `${run.path}.old`);
    run.output.reopen();
    run.offset += Buffer.byteLength(FIRST.slice(100) + SECOND);
    run.output.unitEnded(200n, Buffer.byteLength(FIRST));
    run.output.unitEnded(300n, run.offset);
    run.output.write(Buffer.from(FIRST.slice(100) + SECOND));
    const synced = run.output.sync();
    const step = async (operation: 'write' | 'sync'): Promise<void> => {
      while (run.output.safe < run.offset) await files.letGo(operation);
    };
    void Promise.all([step('write'), step('sync')]).catch(() => {});
    await synced;
    expect(filesIn(run)).toEqual({
      'shop.ndjson.old': HEAD + FIRST,
      'shop.ndjson': header(200n) + SECOND,
    });
  });

  it('writes a header into an empty file that was put there', async () => {
    using run = new FileRun();
    run.unit(200n);
    await run.output.sync();
    rename(run.path, `${run.path}.old`);
    writeFileSync(run.path, '', { mode: 0o600 });
    run.output.reopen();
    run.unit(300n);
    await run.output.sync();
    expect(run.contents()).toBe(header(200n) + SECOND);
  });

  it('goes on in the same file if nothing happened, and in a whole copy of it', async () => {
    using run = new FileRun();
    run.unit(200n);
    run.output.reopen();
    await run.output.sync();
    copyFileSync(run.path, `${run.path}.copy`);
    rename(run.path, `${run.path}.old`);
    rename(`${run.path}.copy`, run.path);
    run.output.reopen();
    run.unit(300n);
    await run.output.sync();
    expect(run.contents()).toBe(HEAD + FIRST + SECOND);
    expect(run.contents('.old')).toBe(HEAD + FIRST);
  });

  it.each([
    ['an older file', HEAD, /which does not end where the last one did$/],
    ['a torn file', HEAD + FIRST + SECOND.slice(0, 50), /which does not end where/],
    ['a file of another slot', header(200n, { slot: 'other' }), /now a file of another slot$/],
    ['a file of another program', 'once upon a time\n', /its first line is not the header/],
  ])('ends the tail if it finds %s', async (_name, contents, problem) => {
    using run = new FileRun();
    run.unit(200n);
    await run.output.sync();
    rename(run.path, `${run.path}.old`);
    writeFileSync(run.path, contents);
    run.output.reopen();
    const error = await run.failure();
    expect(error.exitCode).toBe(EXIT.output);
    expect(error.message).toMatch(problem);
    expect(run.contents()).toBe(contents);
    expect(run.contents('.old')).toBe(HEAD + FIRST);
  });

  it('ends the tail if the same file was written by somebody else', async () => {
    using run = new FileRun();
    run.unit(200n);
    await run.output.sync();
    writeFileSync(run.path, 'mine', { flag: 'a' });
    run.output.reopen();
    expect(await run.failure()).toBeInstanceOf(FileChanged);
    expect(run.contents()).toBe(`${HEAD + FIRST}mine`);
  });

  it('comes before renaming a full file that was renamed already', async () => {
    using run = new FileRun({ rotateSize: ROTATE_SIZE });
    rename(run.path, `${run.path}.old`);
    run.unit(200n);
    run.unit(300n);
    run.write(THIRD);
    await run.output.sync();
    expect(filesIn(run)).toEqual({
      'shop.ndjson.old': HEAD + FIRST,
      'shop.ndjson.1': header(200n) + SECOND,
      'shop.ndjson': header(300n) + THIRD,
    });
  });
});
