// Every ending that a file can have: what is kept of it, and where the stream goes on.

import { execFileSync } from 'node:child_process';
import { constants, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT, PgtailError } from '../../../src/errors.ts';
import {
  type Examined,
  type ExamineOptions,
  examine,
  readContents,
} from '../../../src/output/ndjson-file/examine.ts';
import { type FileSystem, nodeFileSystem } from '../../../src/output/ndjson-file/file-system.ts';
import { temporaryFolder } from '../../support/pty.ts';
import {
  commitPrepared,
  header,
  message,
  ORIGIN,
  prepared,
  rollbackPrepared,
  transaction,
  transactionalMessage,
} from './lines.ts';

function examineAt(path: string, options: Partial<ExamineOptions> = {}): Examined {
  return examine({ path, ...ORIGIN, timeline: 1, blockBytes: 100, ...options });
}

function examined(contents: string | Buffer, options: Partial<ExamineOptions> = {}): Examined {
  using folder = temporaryFolder();
  const path = join(folder.path, 'shop.ndjson');
  writeFileSync(path, contents);
  return examineAt(path, options);
}

function refusal(work: () => unknown): PgtailError {
  try {
    work();
  } catch (error) {
    if (error instanceof PgtailError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

const HEAD = header(100n);
const FIRST = transaction(200n);
const SECOND = transaction(300n);
const SECOND_BYTES = Buffer.byteLength(SECOND);
const NOTHING = { keep: 0, position: undefined, timeline: undefined };

/** A file system of one file, whose bytes are made when they are read. */
function fileOf(size: number, fill: (into: Buffer, position: number) => void): FileSystem {
  const status = { kind: 'file', size, id: '1:1' } as const;
  return {
    ...nodeFileSystem,
    status: () => status,
    statusOf: () => status,
    open: () => 99,
    close: () => {},
    read: (_fd, into, position) => {
      fill(into, position);
      return into.length;
    },
  };
}

interface Ending {
  readonly name: string;
  readonly kept: string;
  readonly cut?: string | Buffer;
  readonly position: bigint;
}

const ENDINGS: readonly Ending[] = [
  { name: 'a header alone', kept: HEAD, position: 100n },
  { name: 'whole transactions', kept: HEAD + FIRST + SECOND, position: 300n },
  { name: 'a torn last line', kept: HEAD + FIRST, cut: SECOND.slice(0, -1), position: 200n },
  { name: 'a begin alone', kept: HEAD + FIRST, cut: '{"op":"begin","xid":746}\n', position: 200n },
  {
    name: 'a first transaction without commit',
    kept: HEAD,
    cut: FIRST.slice(0, FIRST.lastIndexOf('{"op":"commit"')),
    position: 100n,
  },
  {
    name: 'half a character',
    kept: HEAD + FIRST,
    cut: Buffer.from('{"op":"insert","new":{"name":"\u{1F375}').subarray(0, -2),
    position: 200n,
  },
  { name: 'zeros', kept: HEAD + FIRST, cut: Buffer.alloc(1000), position: 200n },
  {
    name: 'zeros in the place of lines that were lost',
    kept: HEAD + FIRST,
    cut: Buffer.concat([Buffer.alloc(500), Buffer.from(`}\n${SECOND}`)]),
    position: 200n,
  },
  { name: 'a message', kept: HEAD + FIRST + message(250n), position: 250n },
  {
    name: 'a message longer than any block',
    kept: HEAD + message(250n, 'é'.repeat(20_000)),
    position: 250n,
  },
  {
    name: 'a torn long message',
    kept: HEAD + FIRST,
    cut: message(250n, 'é'.repeat(20_000)).slice(0, -3),
    position: 200n,
  },
  {
    name: 'a message in a transaction',
    kept: HEAD + FIRST,
    cut: transactionalMessage(290n),
    position: 200n,
  },
  {
    name: 'a torn transaction of many long rows',
    kept: HEAD + FIRST,
    cut: `{"op":"insert","new":{"name":"${'x'.repeat(5000)}"}}\n`.repeat(20),
    position: 200n,
  },
  { name: 'a prepared transaction', kept: HEAD + FIRST + prepared(250n), position: 250n },
  {
    name: 'prepared transactions only',
    kept: HEAD + prepared(150n) + prepared(250n),
    position: 250n,
  },
  {
    name: 'a late prepare without its end',
    kept: HEAD + FIRST,
    cut: prepared(150n),
    position: 200n,
  },
  {
    name: 'a late prepare after another that was not',
    kept: HEAD + FIRST + prepared(250n),
    cut: prepared(150n),
    position: 250n,
  },
  { name: 'a late prepare after the header', kept: HEAD, cut: prepared(90n), position: 100n },
  {
    name: 'a late prepare with its commit',
    kept: HEAD + FIRST + prepared(150n) + commitPrepared(250n),
    position: 250n,
  },
  {
    name: 'a late prepare with its rollback',
    kept: HEAD + FIRST + prepared(150n) + rollbackPrepared(250n, 150n),
    position: 250n,
  },
  {
    name: 'a header for a new timeline',
    kept: HEAD + FIRST + header(200n, { timeline: 2 }),
    position: 200n,
  },
  {
    name: 'a damaged commit line',
    kept: HEAD + FIRST,
    cut: '{"op":"commit","xid":745,"end_lsn":"0/12C"\u0007}\n',
    position: 200n,
  },
  {
    name: 'lines without their begin, as --op leaves them',
    kept: HEAD + SECOND.slice(SECOND.lastIndexOf('{"op":"commit"')),
    position: 300n,
  },
];

describe('a file that ends with', () => {
  for (const { name, kept, cut = '', position } of ENDINGS) {
    it(name, () => {
      const contents = Buffer.concat([Buffer.from(kept), Buffer.from(cut)]);
      const { keep, position: found } = examined(contents);
      expect({ keep, found }).toEqual({ keep: Buffer.byteLength(kept), found: position });
    });
  }
});

describe('a file without a whole header', () => {
  it.each([
    ['no bytes', ''],
    ['zeros where the header was to be', Buffer.alloc(150)],
    ['a torn header', HEAD.slice(0, -1)],
    ['the first bytes of one', '{"o'],
    ['a torn header and zeros', Buffer.concat([Buffer.from(HEAD.slice(0, 60)), Buffer.alloc(60)])],
  ])('but %s is begun anew', (_name, contents) => {
    expect(examined(contents)).toMatchObject(NOTHING);
  });

  it('is not there', () => {
    using folder = temporaryFolder();
    const found = examineAt(join(folder.path, 'shop.ndjson'));
    expect(found).toMatchObject({ ...NOTHING, status: null });
  });
});

describe('the file that is examined', () => {
  it('is the one behind symbolic links, also behind those that lead nowhere yet', () => {
    using folder = temporaryFolder();
    const at = (name: string): string => join(folder.path, name);
    mkdirSync(at('data'));
    symlinkSync('data/shop.ndjson', at('link'));
    symlinkSync(at('link'), at('link to link'));
    const target = at('data/shop.ndjson');
    expect(examineAt(at('link to link'))).toMatchObject({ target, status: null });
    writeFileSync(target, HEAD);
    const status = nodeFileSystem.status(target);
    expect(examineAt(at('link to link'))).toMatchObject({ target, status, position: 100n });
  });

  it('is read from its end only, however large it is', () => {
    const size = 10e9;
    let bytesRead = 0;
    const files = fileOf(size, (into, position) => {
      bytesRead += into.length;
      into.fill('x');
      if (position === 0) into.write(HEAD);
      if (position + into.length === size)
        into.write(`\n${SECOND}`, into.length - 1 - SECOND_BYTES);
    });
    const contents = readContents(files, '/shop.ndjson', constants.O_RDONLY);
    expect(contents).toMatchObject({ keep: size, position: 300n });
    expect(bytesRead).toBeLessThan(66 * 1024 * 1024);
  });

  it('tells the timeline of its last header', () => {
    const second = header(200n, { timeline: 2 });
    const third = header(300n, { timeline: 3 });
    const contents = HEAD + FIRST + second + SECOND + third + transaction(400n).repeat(20);
    for (const blockBytes of [1, 7, 50, 100_000]) {
      expect(examined(contents, { timeline: 3, blockBytes }).timeline).toBe(3);
    }
    expect(examined(HEAD + FIRST, { timeline: 2 }).timeline).toBe(1);
  });
});

describe('a file is refused', () => {
  it('if it is of another slot or system, as exit code 6', () => {
    const slot = refusal(() => examined(header(1n, { slot: 'other' })));
    expect(slot.exitCode).toBe(EXIT.slot);
    expect(slot.message).toMatch(/belongs to slot "other", not to "shop"$/);
    const system = refusal(() => examined(header(1n, { system: '1' })));
    expect(system.exitCode).toBe(EXIT.slot);
    expect(system.message).toMatch(/belongs to database system "1", not to "7412963100523871234"$/);
  });

  it.each([
    ['another program wrote it', 'once upon a time\n'],
    ['it has lines but no header', FIRST],
    ['it has no line at all', 'once upon a time'],
    ['it is full of zeros', Buffer.alloc(5000)],
    ['its header lacks the slot', '{"op":"pgtail","version":1,"timeline":1}\n'],
  ])('if %s', (_name, contents) => {
    const { exitCode, message } = refusal(() => examined(contents));
    expect(exitCode).toBe(EXIT.output);
    expect(message).toMatch(/^cannot append to .*: its first line is not the header/);
  });

  it('if it is of a later version', () => {
    const error = refusal(() => examined(HEAD.replace('"version":1', '"version":2')));
    expect(error.exitCode).toBe(EXIT.output);
    expect(error.message).toMatch(/it is of version 2, not 1$/);
  });

  it('if it is a folder, a device or a pipe', () => {
    using folder = temporaryFolder();
    const pipe = join(folder.path, 'pipe');
    execFileSync('mkfifo', [pipe]);
    expect(refusal(() => examineAt(folder.path)).message).toMatch(/it is a folder$/);
    for (const path of [pipe, '/dev/full']) {
      const { exitCode, message } = refusal(() => examineAt(path));
      expect(exitCode).toBe(EXIT.output);
      expect(message).toMatch(/it is no regular file$/);
    }
  });

  it('if its folder is missing', () => {
    const { exitCode, message, hint } = refusal(() => examineAt('/nonexistent/shop.ndjson'));
    expect(exitCode).toBe(EXIT.output);
    expect(message).toBe('cannot open /nonexistent/shop.ndjson: no such file or directory');
    expect(hint).toBe('the folder /nonexistent must exist');
  });
});

describe('when the file is missing or has no header', () => {
  it.each([
    ['missing', undefined],
    ['empty', ''],
    ['torn in its header', HEAD.slice(0, 50)],
  ])('(%s), the rotated file that reaches furthest tells the position', (_name, contents) => {
    using folder = temporaryFolder();
    const path = join(folder.path, 'shop.ndjson');
    if (contents !== undefined) writeFileSync(path, contents);
    writeFileSync(`${path}.9`, HEAD + FIRST);
    writeFileSync(`${path}.10`, header(200n) + SECOND);
    writeFileSync(`${path}.11`, 'of another program');
    writeFileSync(`${path}.12.gz`, '');
    expect(examineAt(path)).toMatchObject({ keep: 0, position: 300n, timeline: undefined });
  });

  it('a rotated file of another slot is refused', () => {
    using folder = temporaryFolder();
    const path = join(folder.path, 'shop.ndjson');
    writeFileSync(`${path}.1`, header(1n, { slot: 'other' }));
    expect(refusal(() => examineAt(path)).exitCode).toBe(EXIT.slot);
  });
});
