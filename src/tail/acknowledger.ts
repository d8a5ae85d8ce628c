// Sends standby status updates: what the output has is acknowledged, when it is due.
// https://www.postgresql.org/docs/current/protocol-replication.html

import type { Lsn } from '../lsn.ts';
import type { Output } from '../output/output.ts';
import { Feedback } from '../walsender/feedback.ts';
import { Progress } from '../walsender/progress.ts';
import { encodeStandbyStatus } from '../wire/replication.ts';
import { timestampFromUnixMs } from '../wire/timestamp.ts';

export interface AcknowledgerOptions {
  readonly output: Pick<Output, 'safe' | 'confirmAccepted'>;
  readonly send: (statusUpdate: Buffer) => void;
  /** Unix time in ms: what a status update tells the server. */
  readonly now: () => number;
  /** A clock in ms that nobody sets: what intervals are measured by. */
  readonly uptime: () => number;
  /** Milliseconds between status updates; 0: only when asked. */
  readonly interval: number;
  /** The server's wal_sender_timeout in ms; 0: none. */
  readonly serverTimeout: number;
  /**
   * We are a synchronous standby: what an output has accepted is confirmed at once, for there is
   * somebody who waits for it.
   */
  readonly commitsWait: boolean;
}

/**
 * Why a status is sent. At the interval, when asked and at the end it also settles what a pipe has
 * accepted: its reader is still there, and had the time since the last such status to close an end
 * that it does not want.
 */
type Occasion = 'interval' | 'asked' | 'moved' | 'poll' | 'last';

/** A server that shuts down asks again and again; it settles a pipe at most this often, in ms. */
const ASKED_SETTLES_AFTER = 1000;

export class Acknowledger {
  readonly #progress = new Progress();
  readonly #feedback: Feedback;
  readonly #output: AcknowledgerOptions['output'];
  readonly #send: (statusUpdate: Buffer) => void;
  readonly #now: () => number;
  readonly #uptime: () => number;
  readonly #interval: number;
  #acknowledged: Lsn = 0n;
  #settledAt: number;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;

  constructor(options: AcknowledgerOptions) {
    const { output, send, now, uptime, interval, serverTimeout, commitsWait } = options;
    this.#output = output;
    this.#send = send;
    this.#now = now;
    this.#uptime = uptime;
    this.#interval = interval;
    this.#settledAt = uptime();
    this.#feedback = new Feedback(interval, serverTimeout, commitsWait);
  }

  /** The stream stands inside a unit. */
  get halfReceived(): boolean {
    return this.#progress.halfReceived;
  }

  /** How far the server has told us that its WAL goes, and has sent all that it had to send. */
  get received(): Lsn {
    return this.#progress.received;
  }

  /** The highest position that a status update has confirmed. */
  get acknowledged(): Lsn {
    return this.#acknowledged;
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

  /** Whether we are a synchronous standby, as far as is known. */
  get commitsWait(): boolean {
    return this.#feedback.commitsWait;
  }

  /** It turned out that we are one: from now on every move is told at once. */
  commitsWaitFromNowOn(): void {
    this.#feedback.commitsWait = true;
    this.update();
  }

  /** Nothing is read from the server for now, so that it cannot ask. */
  set deaf(isDeaf: boolean) {
    this.#feedback.deaf = isDeaf;
    this.#schedule();
  }

  /** Something was received or written: sends a status if one is due. */
  update(): void {
    if (this.commitsWait) this.#output.confirmAccepted();
    this.#progress.written(this.#output.safe);
    if (this.#feedback.isDue(this.#uptime(), this.#progress.confirmed)) this.#sendDue();
    else this.#schedule();
  }

  /** Asks the server how far it is. */
  poll(): void {
    this.#send(this.#status('poll'));
    this.#schedule();
  }

  /** The status to end with. */
  lastStatus(): Buffer {
    return this.#status('last');
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #sendDue(): void {
    this.#send(this.#status(this.#occasion()));
    this.#schedule();
  }

  #occasion(): Occasion {
    if (this.#feedback.isAsked) return 'asked';
    return this.#uptime() - this.#settledAt >= this.#interval ? 'interval' : 'moved';
  }

  #status(occasion: Occasion): Buffer {
    this.#settle(occasion);
    this.#progress.written(this.#output.safe);
    const { received, confirmed } = this.#progress;
    if (confirmed > this.#acknowledged) this.#acknowledged = confirmed;
    this.#feedback.sent(this.#uptime(), confirmed);
    return encodeStandbyStatus({
      write: received,
      flush: confirmed,
      apply: confirmed,
      clientTime: timestampFromUnixMs(this.#now()),
      replyRequested: occasion === 'poll',
    });
  }

  #settle(occasion: Occasion): void {
    const uptime = this.#uptime();
    const tooSoon = uptime - this.#settledAt < ASKED_SETTLES_AFTER;
    if (occasion === 'poll' || occasion === 'moved' || (occasion === 'asked' && tooSoon)) return;
    this.#settledAt = uptime;
    this.#output.confirmAccepted();
  }

  /** Sets the timer for the next status, unless it is set for that moment already. */
  #schedule(): void {
    const dueAt = this.#feedback.dueAt(this.#progress.confirmed);
    if (dueAt === this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = dueAt;
    if (dueAt === Number.POSITIVE_INFINITY) return;
    const delay = Math.max(0, dueAt - this.#uptime());
    this.#timer = setTimeout(() => {
      this.#timerAt = Number.POSITIVE_INFINITY;
      this.#sendDue();
    }, delay);
  }
}
