// Whatever happens on the way (short writes, errors, reconnects, full files), the files together
// hold every unit once and in order, and what was safe is in them.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as otherWork } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FileSystem, nodeFileSystem } from '../../../src/output/ndjson-file/file-system.ts';
import { temporaryFolder } from '../../support/pty.ts';
import { FileRun, POSITION } from './file-run.ts';
import { noSpace } from './held-files.ts';
import { commitPrepared, message, prepared, transaction } from './lines.ts';

/** What the server sends, and sends again: lines with an end behind each. */
interface Unit {
  readonly lsn: bigint;
  readonly parts: readonly { readonly lsn: bigint; readonly text: string }[];
}

/** What happens before a unit is handed over. */
type Event = 'reconnect' | 'sync' | 'reopen' | 'other work' | 'nothing';

interface Step {
  readonly kind: 'transaction' | 'message' | 'late prepare';
  readonly length: number;
  readonly event: Event;
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('transaction', 'transaction', 'message', 'late prepare'),
    length: fc.nat({ max: 400 }),
    event: fc.constantFrom('reconnect', 'sync', 'reopen', 'other work', 'nothing', 'nothing'),
  }),
  { minLength: 1, maxLength: 25 },
);

/** How the file system behaves. */
const weather = fc.record({
  /** Writes take this many bytes, in turn. */
  writes: fc.array(fc.integer({ min: 20, max: 700 }), { minLength: 1, maxLength: 5 }),
  /** These writes and syncs fail. */
  failing: fc.array(fc.nat({ max: 40 }), { maxLength: 4 }),
});

type Weather = typeof weather extends fc.Arbitrary<infer T> ? T : never;

class RoughFiles {
  readonly #weather: Weather;
  #operations = 0;

  constructor(weather: Weather) {
    this.#weather = weather;
  }

  get files(): FileSystem {
    return {
      ...nodeFileSystem,
      write: async (fd, bytes, position) => {
        const { writes } = this.#weather;
        const most = writes[this.#next() % writes.length]!;
        return nodeFileSystem.write(fd, bytes.subarray(0, most), position);
      },
      dataSync: async (fd) => {
        this.#next();
        return nodeFileSystem.dataSync(fd);
      },
    };
  }

  #next(): number {
    if (this.#weather.failing.includes(this.#operations++)) throw noSpace();
    return this.#operations;
  }
}

function unitOf({ kind, length }: Step, index: number): Unit {
  const lsn = POSITION + BigInt(index + 1) * 100n;
  switch (kind) {
    case 'transaction':
      return { lsn, parts: [{ lsn, text: transaction(lsn, 'é'.repeat(length)) }] };
    case 'message':
      return { lsn, parts: [{ lsn, text: message(lsn, 'x'.repeat(length)) }] };
    case 'late prepare': {
      const late = POSITION - 50n;
      const parts = [
        { lsn: late, text: prepared(late) },
        { lsn, text: commitPrepared(lsn) },
      ];
      return { lsn, parts };
    }
  }
}

/** Sends everything behind the file's position; ends early if the file cannot be written. */
async function send(run: FileRun, units: readonly Unit[], steps: readonly Step[]): Promise<void> {
  const ends: { lsn: bigint; offset: number }[] = [];
  const { output } = run;
  for (const [i, unit] of units.entries()) {
    if (unit.lsn <= output.position) continue;
    await happen(steps[i]!.event, run, unit);
    for (const { lsn, text } of unit.parts) run.unit(lsn, text);
    ends.push({ lsn: unit.lsn, offset: run.offset });
  }
  await output.sync();
  const acknowledged = ends.findLast(({ offset }) => offset <= output.safe)?.lsn ?? POSITION;
  expect(run.examined().position).toBeGreaterThanOrEqual(acknowledged);
}

async function happen(event: Event, run: FileRun, unit: Unit): Promise<void> {
  switch (event) {
    case 'reconnect':
      return tear(run, unit);
    case 'sync':
      return run.output.sync();
    case 'reopen':
      return run.output.reopen();
    case 'other work':
      return otherWork();
    case 'nothing':
      return;
  }
}

/** The connection breaks inside the unit: of a late prepare, before its commit. */
async function tear(run: FileRun, { parts }: Unit): Promise<void> {
  const [first, ...others] = parts;
  if (others.length > 0) run.unit(first!.lsn, first!.text);
  else run.write(first!.text.slice(0, first!.text.length / 2));
  if (parts.length > 1) await otherWork();
  const cut = run.output.cutBack();
  if (parts.length > 1) await cut;
}

/** All lines in order, without the headers. */
function linesIn(folder: string): string {
  const number = (name: string): number =>
    Number(/\d+$/.exec(name)?.[0] ?? Number.MAX_SAFE_INTEGER);
  const names = readdirSync(folder).sort((a, b) => number(a) - number(b));
  const text = names.map((name) => readFileSync(join(folder, name), 'utf8')).join('');
  return text.replaceAll(/^\{"op":"pgtail",.*\n/gm, '');
}

describe('the files of a tail', () => {
  it('hold every unit once and in order', async () => {
    const rotateSize = fc.constantFrom(0, 300, 1500);
    await fc.assert(
      fc.asyncProperty(steps, weather, rotateSize, async (steps, weather, rotateSize) => {
        using folder = temporaryFolder();
        const units = steps.map(unitOf);
        const { files } = new RoughFiles(weather);
        const kept = { path: folder.path, [Symbol.dispose]: () => {} };
        for (let isOver = false; !isOver; ) {
          using run = new FileRun({ files, rotateSize, fsyncInterval: 0 }, kept);
          await send(run, units, steps);
          isOver = run.failures.length === 0;
        }
        const sent = units.flatMap(({ parts }) => parts.map(({ text }) => text)).join('');
        expect(linesIn(folder.path)).toBe(sent);
      }),
      { numRuns: 60 },
    );
  });
});
