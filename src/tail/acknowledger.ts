// Sends standby status updates: what the output has is acknowledged, when it is due.
// https://www.postgresql.org/docs/current/protocol-replication.html

import type { Lsn } from '../lsn.ts';
import type { Output } from '../output/output.ts';
import { Feedback } from '../walsender/feedback.ts';
import { Progress } from '../walsender/progress.ts';
import { encodeStandbyStatus } from '../wire/replication.ts';
import { timestampFromUnixMs } from '../wire/timestamp.ts';

export interface AcknowledgerOptions {
  readonly output: Output;
  readonly send: (statusUpdate: Buffer) => void;
  /** Unix time in ms. */
  readonly now: () => number;
  /** Milliseconds between status updates; 0: only when asked. */
  readonly interval: number;
}

export class Acknowledger {
  readonly #progress = new Progress();
  readonly #feedback: Feedback;
  readonly #output: Output;
  readonly #send: (statusUpdate: Buffer) => void;
  readonly #now: () => number;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;

  constructor({ output, send, now, interval }: AcknowledgerOptions) {
    this.#output = output;
    this.#send = send;
    this.#now = now;
    this.#feedback = new Feedback(interval);
  }

  /** The stream stands inside a unit. */
  get halfReceived(): boolean {
    return this.#progress.halfReceived;
  }

  unitOpened(): void {
    this.#progress.unitOpened();
  }

  unitSetAside(): void {
    this.#progress.unitSetAside();
  }

  unitEnded(endLsn: Lsn, offset: number): void {
    this.#progress.unitEnded(endLsn, offset);
  }

  /** The server told how far it is, and perhaps wants to hear how far we are. */
  keepalive(walEnd: Lsn, offset: number, replyRequested: boolean): void {
    this.#progress.keepalive(walEnd, offset);
    if (replyRequested) this.#feedback.asked();
  }

  /** Something was received or written: sends a status if one is due. */
  update(): void {
    this.#progress.written(this.#output.safe);
    if (this.#feedback.isDue(this.#now(), this.#progress.confirmed)) this.sendNow();
    else this.#schedule();
  }

  sendNow(replyRequested = false): void {
    this.#send(this.status(replyRequested));
    this.#schedule();
  }

  /**
   * A status update as of now. What a pipe has accepted counts from here on: its reader had the
   * time since the last status to close an end that it does not want.
   */
  status(replyRequested = false): Buffer {
    this.#output.confirmAccepted();
    this.#progress.written(this.#output.safe);
    const { received, confirmed } = this.#progress;
    this.#feedback.sent(this.#now(), confirmed);
    return encodeStandbyStatus({
      write: received,
      flush: confirmed,
      apply: confirmed,
      clientTime: timestampFromUnixMs(this.#now()),
      replyRequested,
    });
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  /** Sets the timer for the next status, unless it is set for that moment already. */
  #schedule(): void {
    const dueAt = this.#feedback.dueAt(this.#progress.confirmed);
    if (dueAt === this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = dueAt;
    if (dueAt === Number.POSITIVE_INFINITY) return;
    this.#timer = setTimeout(
      () => {
        this.#timerAt = Number.POSITIVE_INFINITY;
        this.sendNow();
      },
      Math.max(0, dueAt - this.#now()),
    );
  }
}
