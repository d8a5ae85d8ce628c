// Writing the file: what counts as safe, what a failure leaves, and cutting back to whole units.

import { appendFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/errors.ts';
import { FileChanged } from '../../../src/output/ndjson-file/failure.ts';
import { nodeFileSystem } from '../../../src/output/ndjson-file/file-system.ts';
import { openNdjsonFile } from '../../../src/output/ndjson-file/ndjson-file.ts';
import { temporaryFolder } from '../../support/pty.ts';
import { until } from '../../support/until.ts';
import { FileRun, POSITION } from './file-run.ts';
import { HeldFiles, inputOutputError, noSpace } from './held-files.ts';
import { commitPrepared, header, prepared, transaction } from './lines.ts';

const HEAD = header(POSITION);
const FIRST = transaction(200n);
const SECOND = transaction(300n);
/** A transaction of which no end has come. */
const TORN = FIRST.slice(0, FIRST.lastIndexOf('{"op":"commit"'));

const FOR_EVER = 600_000;

describe('a file that is written', () => {
  it('holds the header and the units that were handed over', async () => {
    using run = new FileRun();
    expect(run.contents()).toBe(HEAD);
    run.unit(200n);
    run.unit(300n);
    await run.output.sync();
    expect(run.contents()).toBe(HEAD + FIRST + SECOND);
    expect(run.output).toMatchObject({ pending: 0, safe: run.offset, position: 300n });
    expect(run.failures).toEqual([]);
  });

  it('has the permissions that the umask leaves', () => {
    const before = process.umask(0o027);
    try {
      using run = new FileRun();
      expect(statSync(run.path).mode & 0o777).toBe(0o640);
    } finally {
      process.umask(before);
    }
  });

  it('takes on what comes in many small blocks, and in one that is larger than a write', async () => {
    using run = new FileRun();
    let lsn = POSITION;
    for (; lsn < 50_000n; lsn += 50n) run.unit(lsn + 50n);
    lsn += 50n;
    run.unit(lsn, transaction(lsn, 'é'.repeat(3e6)));
    await run.output.sync();
    expect(run.examined()).toMatchObject({ keep: run.size, position: lsn });
    expect(run.size).toBe(HEAD.length + run.offset);
  });

  it('goes on with a write that came in part', async () => {
    const files = new HeldFiles();
    files.mostBytes = 100;
    using run = new FileRun({ files, fsyncInterval: FOR_EVER });
    run.unit(200n);
    const synced = run.output.sync();
    for (let left = run.offset; left > 0; left -= 100) await files.letGo('write');
    await files.letGo('sync');
    await synced;
    expect(run.contents()).toBe(HEAD + FIRST);
  });
});

describe('what is safe', () => {
  it('is what had been written when a sync began that has ended', async () => {
    const files = new HeldFiles();
    using run = new FileRun({ files });
    run.unit(200n);
    const first = run.offset;
    await files.letGo('write');
    await until(() => files.waiting.includes('sync'));
    run.unit(300n);
    await files.letGo('write');
    await until(() => run.output.pending === 0);
    expect(run.output.safe).toBe(0);
    await files.letGo('sync');
    await until(() => run.output.safe > 0);
    expect(run.output.safe).toBe(first);
    await files.letGo('sync');
    await until(() => run.output.safe === run.offset);
  });

  it('waits for the interval, or for who asks', async () => {
    const files = new HeldFiles();
    using run = new FileRun({ files, fsyncInterval: FOR_EVER });
    run.unit(200n);
    await files.letGo('write');
    await until(() => run.output.pending === 0);
    expect(files.waiting).toEqual([]);
    const synced = run.output.sync();
    await files.letGo('sync');
    await synced;
    expect(run.output.safe).toBe(run.offset);
  });

  it('never is behind by more than a restart can check', async () => {
    let syncs = 0;
    let size = 0;
    const files = {
      ...nodeFileSystem,
      statusOf: (fd: number) => ({ ...nodeFileSystem.statusOf(fd), size: HEAD.length + size }),
      write: (_fd: number, bytes: Buffer) => {
        size += bytes.length;
        return Promise.resolve(bytes.length);
      },
      dataSync: () => Promise.resolve(void syncs++),
    };
    using run = new FileRun({ files, fsyncInterval: FOR_EVER });
    run.write('x'.repeat(100 * 1024 * 1024));
    await until(() => run.output.pending === 0);
    expect(syncs).toBe(1);
    expect(run.output.safe).toBeGreaterThan(30 * 1024 * 1024);
  });
});

describe('a file that cannot be written any more', () => {
  it('ends with its last whole unit if there is no space left', async () => {
    const files = new HeldFiles();
    using run = new FileRun({ files, fsyncInterval: FOR_EVER });
    run.unit(200n);
    await files.letGo('write');
    await until(() => run.output.pending === 0);
    files.mostBytes = 50;
    run.unit(300n);
    await files.letGo('write');
    await files.letFail('write', noSpace());
    const { exitCode, message } = await run.failure();
    expect(exitCode).toBe(EXIT.output);
    expect(message).toBe(`cannot write ${run.path}: no space left on device`);
    expect(run.contents()).toBe(HEAD + FIRST);
    expect(run.output.safe).toBe(0);
  });

  it('ends with its last synced unit if syncing fails, and says so once', async () => {
    const files = new HeldFiles();
    using run = new FileRun({ files });
    run.unit(200n);
    await files.letGo('write');
    await files.letGo('sync');
    await until(() => run.output.safe > 0);
    const { safe } = run.output;
    run.unit(300n);
    await files.letGo('write');
    await until(() => files.waiting.includes('sync'));
    run.unit(400n); // and a write is under way
    await files.letFail('sync', inputOutputError());
    await files.letFail('write', inputOutputError());
    expect((await run.failure()).message).toMatch(/: i\/o error$/);
    expect(run.contents()).toBe(HEAD + FIRST);
    expect(run.output.safe).toBe(safe);
    await run.output.sync();
    await run.output.cutBack();
    expect(run.failures).toHaveLength(1);
  });

  it('is left alone if another program changed it', async () => {
    using run = new FileRun({ fsyncInterval: FOR_EVER });
    run.unit(200n);
    await run.output.sync();
    const { safe } = run.output;
    appendFileSync(run.path, 'mine');
    run.unit(300n);
    const failed = run.failure();
    await run.output.sync();
    expect(await failed).toBeInstanceOf(FileChanged);
    expect(run.contents()).toContain('mine');
    expect(run.output.safe).toBe(safe);
  });

  it('is found out if it was emptied', async () => {
    using run = new FileRun({ fsyncInterval: FOR_EVER });
    run.unit(200n);
    await run.output.sync();
    truncateSync(run.path, 0);
    run.unit(300n);
    expect(await run.failure()).toBeInstanceOf(FileChanged);
    expect(run.size).toBe(0);
  });

  it('says nothing once it is closed, and keeps its descriptor while that is in use', async () => {
    const files = new HeldFiles();
    using run = new FileRun({ files });
    run.unit(200n);
    await until(() => files.waiting.length > 0);
    run.output.close();
    expect(files.closedTooEarly).toBe(0);
    await files.letFail('write', noSpace());
    run.unit(300n);
    expect({ waiting: files.waiting, failures: run.failures }).toEqual({
      waiting: [],
      failures: [],
    });
  });
});

describe('cutting back', () => {
  it('takes out what came after the last unit, and goes on there', async () => {
    using run = new FileRun();
    run.unit(200n);
    run.write(TORN);
    await run.output.sync();
    expect(run.contents()).toBe(HEAD + FIRST + TORN);
    await run.output.cutBack();
    expect(run.contents()).toBe(HEAD + FIRST);
    expect(run.output.safe).toBe(run.offset);
    expect(run.output.stillOurs()).toBe(true);
    run.unit(300n);
    await run.output.sync();
    expect(run.contents()).toBe(HEAD + FIRST + SECOND);
    expect(run.output.safe).toBe(run.offset);
  });

  it('also takes out what is being written and what waits', async () => {
    const files = new HeldFiles();
    using run = new FileRun({ files, fsyncInterval: FOR_EVER });
    run.unit(200n);
    run.write(TORN);
    await until(() => files.waiting.length > 0); // the first unit only: it went at once
    run.write(TORN);
    const cut = run.output.cutBack();
    run.unit(300n);
    const written = run.output.sync();
    await files.letGo('write');
    await files.letGo('sync');
    await files.letGo('write');
    await files.letGo('sync');
    await cut;
    await written;
    expect(run.contents()).toBe(HEAD + FIRST + SECOND);
    expect(run.output.safe).toBe(run.offset);
  });

  it('lets a write end that reaches behind the cut', async () => {
    const files = new HeldFiles();
    using run = new FileRun({ files, fsyncInterval: FOR_EVER });
    run.unit(200n);
    await files.letGo('write');
    await until(() => run.output.pending === 0);
    run.write(TORN);
    await until(() => files.waiting.length > 0);
    const cut = run.output.cutBack();
    await files.letGo('write');
    await files.letGo('sync');
    await cut;
    expect(run.contents()).toBe(HEAD + FIRST);
  });

  it('a second time before the first is done comes to the same', async () => {
    const files = new HeldFiles();
    using run = new FileRun({ files, fsyncInterval: FOR_EVER });
    run.unit(200n);
    await until(() => files.waiting.length > 0);
    run.write(TORN);
    const cuts = [run.output.cutBack()];
    run.write(TORN);
    cuts.push(run.output.cutBack());
    run.unit(300n);
    run.write(TORN);
    cuts.push(run.output.cutBack());
    await files.letGo('write');
    await files.letGo('sync');
    await files.letGo('sync');
    await files.letGo('write');
    await files.letGo('sync');
    await Promise.all(cuts);
    expect(run.contents()).toBe(HEAD + FIRST + SECOND);
    expect(run.output).toMatchObject({ safe: run.offset, pending: 0 });
  });

  it('takes a late prepare out, too, that came without its commit', async () => {
    using run = new FileRun();
    run.unit(200n);
    run.unit(150n, prepared(150n));
    await run.output.cutBack();
    expect(run.contents()).toBe(HEAD + FIRST);
    expect(run.output.position).toBe(200n);
    run.unit(150n, prepared(150n));
    run.unit(300n, commitPrepared(300n));
    await run.output.cutBack();
    expect(run.contents()).toBe(HEAD + FIRST + prepared(150n) + commitPrepared(300n));
    expect(run.output.position).toBe(300n);
  });

  it('leaves units without lines out of it', async () => {
    using run = new FileRun();
    run.unit(200n);
    run.output.unitEnded(250n, run.offset);
    await run.output.cutBack();
    expect(run.contents()).toBe(HEAD + FIRST);
    expect(run.output.position).toBe(250n);
  });
});

describe('a file that is opened again', () => {
  it('goes on behind its last whole unit', async () => {
    using folder = temporaryFolder();
    writeFileSync(`${folder.path}/shop.ndjson`, HEAD + FIRST + TORN);
    using run = new FileRun({ offset: 5000 }, folder);
    expect(run.contents()).toBe(HEAD + FIRST);
    expect(run.output).toMatchObject({ safe: 5000, position: 200n });
    run.unit(300n);
    await run.output.sync();
    expect(run.contents()).toBe(HEAD + FIRST + SECOND);
    expect(run.output.safe).toBe(run.offset);
  });

  it.each([
    ['', HEAD],
    [HEAD.slice(0, 60), HEAD],
  ])('has its header written if it has none', (before, after) => {
    using folder = temporaryFolder();
    writeFileSync(`${folder.path}/shop.ndjson`, before);
    using run = new FileRun({}, folder);
    expect(run.contents()).toBe(after);
  });

  it('gets another header for a new timeline, or for a position that it does not tell', () => {
    using folder = temporaryFolder();
    writeFileSync(`${folder.path}/shop.ndjson`, HEAD + FIRST);
    using run = new FileRun({ timeline: 2, position: 200n }, folder);
    const second = header(200n, { timeline: 2 });
    expect(run.contents()).toBe(HEAD + FIRST + second);
    using later = new FileRun({ timeline: 1, position: 250n }, folder);
    expect(later.contents()).toBe(HEAD + FIRST + second + header(250n));
  });

  it('gets another header when the timeline changes on a reconnect', async () => {
    using run = new FileRun();
    run.unit(200n);
    run.write(TORN);
    await run.output.cutBack();
    run.output.timelineChanged(2);
    run.unit(300n);
    await run.output.sync();
    expect(run.contents()).toBe(HEAD + FIRST + header(200n, { timeline: 2 }) + SECOND);
  });

  it.each<[string, (path: string) => void]>([
    ['has grown', (path) => appendFileSync(path, SECOND)],
    ['was replaced', (path) => replaceFile(path)],
    ['is gone', (path) => nodeFileSystem.rename(path, `${path}.1`)],
  ])('is not if it %s since it was examined', (_name, change) => {
    using run = new FileRun();
    const examined = run.examined();
    change(run.path);
    expect(run.output.stillOurs()).toBe(false);
    const options = { timeline: 1, position: 1n, offset: 0, fsyncInterval: 1, rotateSize: 0 };
    const listener = { progressed() {}, readerGone() {}, returned() {}, failed() {} };
    expect(() => openNdjsonFile(examined, options, listener)).toThrow(FileChanged);
  });

  it('is not if it has appeared since it was found missing', () => {
    using folder = temporaryFolder();
    using run = new FileRun({}, folder);
    const missing = { ...run.examined(), status: null, keep: 0 };
    const options = { timeline: 1, position: 1n, offset: 0, fsyncInterval: 1, rotateSize: 0 };
    const listener = { progressed() {}, readerGone() {}, returned() {}, failed() {} };
    expect(() => openNdjsonFile(missing, options, listener)).toThrow(FileChanged);
    expect(run.contents()).toBe(HEAD);
  });
});

/** Another file of the same size. */
function replaceFile(path: string): void {
  writeFileSync(`${path}.new`, HEAD);
  nodeFileSystem.rename(`${path}.new`, path);
}
