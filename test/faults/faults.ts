// The faults, each with what it does to pgtail, its reader, the network or the server.

import { setTimeout as delay } from 'node:timers/promises';
import type { EmbeddedServer } from '../../src/demo/embedded-server.ts';
import type { Dice } from '../support/dice.ts';
import type { FaultProxy } from '../support/fault-proxy.ts';
import { until } from '../support/until.ts';
import { type DeliveredOutput, FileOutput, PipeOutputs } from './outputs.ts';
import type { SupervisedTail } from './supervised-tail.ts';

/** Whom a fault can hit. */
export interface Victims {
  readonly server: EmbeddedServer;
  readonly proxy: FaultProxy;
  readonly tail: SupervisedTail;
  readonly output: DeliveredOutput;
  readonly dice: Dice;
  /** One query on a connection of its own, past the proxy. */
  readonly ask: <Row extends object>(sql: string) => Promise<Row[]>;
  readonly slot: string;
  /** Notes what is acknowledged now. */
  readonly confirmed: () => Promise<bigint>;
  /** Called before the server forgets what it had not saved. */
  readonly onCrash: () => void;
}

export type Fault = (victims: Victims) => Promise<void>;

/** wal_sender_timeout, in ms: faults last for more and for less. */
export const SERVER_TIMEOUT = 2000;
/** How long a machine with other work may take to do anything, in ms: longer is a hang. */
export const PATIENCE = 180_000;

/** For what takes no time limit of its own. */
export async function noHang<T>(work: Promise<T>, what: string): Promise<T> {
  let isOver = false;
  const over = work.finally(() => {
    isOver = true;
  });
  over.catch(() => {}); // awaited below
  await until(() => isOver, { timeout: PATIENCE, what });
  return await over;
}

const forAWhile = (dice: Dice): Promise<void> => delay(dice.between(50, SERVER_TIMEOUT * 1.5));

/** What can happen wherever the lines go. */
const ANYWHERE: Readonly<Record<string, Fault>> = {
  async 'kill -9'({ tail, confirmed }) {
    await noHang(tail.end('SIGKILL'), 'kill -9');
    await confirmed();
    tail.start();
  },
  async 'SIGTERM or SIGINT'({ tail, dice, confirmed }) {
    await noHang(tail.end(dice.pick(['SIGTERM', 'SIGINT'] as const)), 'a clean stop');
    await confirmed();
    tail.start();
  },
  async 'walsender ended'({ ask, slot }) {
    await ask(`SELECT pg_terminate_backend(active_pid)
      FROM pg_replication_slots WHERE slot_name = '${slot}' AND active`);
  },
  async 'server killed'({ server, onCrash }) {
    onCrash();
    await server.crash();
    await server.start();
  },
  async 'immediate stop'({ server, onCrash }) {
    onCrash();
    await server.restart('immediate');
  },
  async 'fast restart'({ server }) {
    await noHang(server.restart('fast'), 'a fast restart of the server');
  },
  async 'connections reset'({ proxy }) {
    proxy.cut('reset');
  },
  async 'connections ended'({ proxy }) {
    proxy.cut('end');
  },
  async 'black hole'({ proxy, dice }) {
    proxy.swallow();
    proxy.freeze();
    await forAWhile(dice);
    proxy.thaw();
  },
  async delay({ proxy, dice }) {
    proxy.freeze();
    await forAWhile(dice);
    proxy.thaw();
  },
  async 'split bytes'({ proxy, dice }) {
    const longest = dice.pick([1, 1, 7, 100]);
    proxy.split(() => dice.times(500, () => dice.between(1, longest)));
    await forAWhile(dice);
    proxy.join();
  },
  async 'SIGSTOP and SIGCONT'({ tail, dice }) {
    tail.signal('SIGSTOP');
    await forAWhile(dice);
    tail.signal('SIGCONT');
  },
};

const TO_A_FILE: Readonly<Record<string, Fault>> = {
  async 'power cut'({ tail, output, dice, ask, slot, confirmed }) {
    await noHang(tail.end('SIGKILL'), 'kill -9');
    // what its walsender still has of it is then counted
    const active = `SELECT FROM pg_replication_slots WHERE slot_name = '${slot}' AND active`;
    await until(async () => (await ask(active)).length === 0, { timeout: PATIENCE });
    const keepShare = dice.pick([0, dice.below(1000) / 1000]);
    if (output instanceof FileOutput) output.tear(keepShare, dice.oneIn(2));
    await confirmed();
    tail.start();
  },
  async SIGHUP({ tail, output }) {
    await tail.started(PATIENCE); // before, it is a stop
    if (output instanceof FileOutput && !output.rotates) output.rename();
    tail.signal('SIGHUP');
    // killed before, it would leave half a transaction in a file that it does not know any more
    await until(() => output.size() > 0, { timeout: PATIENCE, what: 'a new file' });
  },
};

const TO_A_PIPE: Readonly<Record<string, Fault>> = {
  async 'reader stops'({ output, dice }) {
    if (!(output instanceof PipeOutputs)) return;
    output.stopReading();
    await forAWhile(dice);
    output.readOn();
  },
};

export const FAULTS: Readonly<Record<DeliveredOutput['kind'], Readonly<Record<string, Fault>>>> = {
  file: { ...ANYWHERE, ...TO_A_FILE },
  pipe: { ...ANYWHERE, ...TO_A_PIPE },
};
