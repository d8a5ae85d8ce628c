// Random faults under random transactions: nothing is lost, and in a file nothing is there twice.
// `npm run test:faults -- --faults 200 --seed 7`

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EmbeddedServer } from '../../src/demo/embedded-server.ts';
import { Dice } from '../support/dice.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { temporaryFolder } from '../support/pty.ts';
import { startPrivateServer } from '../support/server.ts';
import { FAULTS, SERVER_TIMEOUT } from './faults.ts';
import { type LegResult, runLeg } from './leg.ts';
import { type DeliveredOutput, FileOutput, PipeOutputs } from './outputs.ts';

const COUNT = Number(process.env.PGTAIL_TEST_FAULTS ?? 20);
const SEED = Number(process.env.PGTAIL_TEST_SEED ?? Date.now() % 1_000_000);
/** With so many faults the next file, or the next row of pipes, begins. */
const FAULTS_EACH = 10;
const TIMEOUT = 3_600_000;

let server: EmbeddedServer;
let proxy: FaultProxy;

beforeAll(async () => {
  server = await startPrivateServer({ wal_sender_timeout: `${SERVER_TIMEOUT}ms` });
  proxy = await FaultProxy.start(server);
});

afterAll(async () => {
  await proxy?.[Symbol.asyncDispose]();
  await server?.stop();
});

/** Every kind of fault comes before any comes again. */
class Deck {
  readonly #dice: Dice;
  readonly #left: Record<DeliveredOutput['kind'], string[]> = { file: [], pipe: [] };

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  draw(kind: DeliveredOutput['kind'], count: number): string[] {
    return this.#dice.times(count, () => {
      const all = Object.keys(FAULTS[kind]);
      if (this.#left[kind].length === 0) this.#left[kind] = this.#dice.some(all, all.length);
      return this.#left[kind].pop()!;
    });
  }
}

const KINDS = ['file', 'pipe', 'file'] as const;

function newOutput(kind: DeliveredOutput['kind'], folder: string, rotates: boolean) {
  return kind === 'pipe' ? new PipeOutputs() : new FileOutput(join(folder, 'out.ndjson'), rotates);
}

async function runLegs(): Promise<{ legs: LegResult[]; faults: string[] }> {
  const dice = new Dice(SEED);
  const deck = new Deck(dice);
  const legs: LegResult[] = [];
  const faults: string[] = [];
  for (let i = 0; faults.length < COUNT; i++) {
    const kind = KINDS[i % KINDS.length]!;
    const drawn = deck.draw(kind, Math.min(FAULTS_EACH, COUNT - faults.length));
    using folder = temporaryFolder();
    using output = newOutput(kind, folder.path, dice.oneIn(2));
    const seed = dice.between(1, 1_000_000);
    const leg = await runLeg({ server, proxy, output, faults: drawn, seed });
    legs.push(leg);
    faults.push(...drawn);
    console.log(`${faults.length} faults, to a ${kind} with ${leg.mode}: ${summary(leg)}`);
    expect(leg, `seed ${SEED}`).toMatchObject({ lost: [], repeated: [], problems: [] });
  }
  return { legs, faults };
}

const summary = ({ transactions, rows, lost, repeated, cameAgain, starts }: LegResult): string =>
  `${transactions} transactions, ${rows} rows, ${lost.length} lost, ${repeated.length} repeated, ` +
  `${cameAgain} came again unacknowledged, ${starts} starts`;

function countsOf(faults: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const fault of faults) counts.set(fault, (counts.get(fault) ?? 0) + 1);
  return [...counts].map(([fault, count]) => `${count} ${fault}`).join(', ');
}

const total = (legs: readonly LegResult[], of: (leg: LegResult) => number): number =>
  legs.reduce((sum, leg) => sum + of(leg), 0);

describe('random faults under random transactions', () => {
  it(
    'lose nothing, and put nothing twice into a file',
    async () => {
      const begun = performance.now();
      console.log(`seed ${SEED}`);
      const { legs, faults } = await runLegs();
      const seconds = Math.round((performance.now() - begun) / 1000);
      console.log(
        `${faults.length} faults (${countsOf(faults)}): ` +
          `${total(legs, (leg) => leg.transactions)} transactions, ` +
          `${total(legs, (leg) => leg.rows)} rows, ` +
          `${total(legs, (leg) => leg.lost.length)} lost, ` +
          `${total(legs, (leg) => leg.repeated.length)} repeated, ${seconds} s, seed ${SEED}`,
      );
    },
    TIMEOUT,
  );
});
