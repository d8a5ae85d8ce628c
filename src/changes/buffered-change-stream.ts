// `--streaming buffer`: the server sends a large transaction while it is in progress, and it is kept
// until it ends; then it comes out as if it had been sent whole, without what was rolled back.
// https://www.postgresql.org/docs/current/protocol-logical-replication.html

import { ProtocolViolation } from '../errors.ts';
import type { PgoutputDecoder } from '../pgoutput/decoder.ts';
import type { Prepare, StreamAbort, StreamCommit, StreamStart } from '../pgoutput/messages.ts';
import { type SpooledMessage, TransactionSpool } from '../spool/transaction-spool.ts';
import { Cursor } from '../wire/cursor.ts';
import type { LsnWords } from '../wire/replication.ts';
import { ChangeStream, type ChangeStreamOptions, type UnitListener } from './change-stream.ts';
import { TypesWanted } from './types-wanted.ts';

const TYPE = 0x59; // Y
const RELATION = 0x52; // R
const ORIGIN = 0x4f; // O
const STREAM_STOP = 0x45; // E
const MESSAGE = 0x4d; // M
const ROWS: readonly number[] = [0x49, 0x55, 0x44]; // I, U, D

interface KeptTransaction {
  readonly xid: number;
  readonly spool: TransactionSpool;
  /** Subtransactions that were rolled back. */
  readonly aborted: Set<number>;
  /** It holds logical messages. */
  hasMessages: boolean;
  /** It came from another server, whose position is told only to who reads it unstreamed. */
  hasOrigin: boolean;
}

/** What was streamed of a transaction does not say all that it would have said unstreamed. */
export class IncompleteStream extends ProtocolViolation {
  constructor() {
    super('streamed transaction', 'it must be read again unstreamed', 0);
  }
}

/**
 * The server names the transaction of a streamed message, never the subtransaction: where some of
 * these were rolled back, nobody can tell whether a message was. And the position at the origin is
 * not known before the commit.
 */
function isIncomplete({ hasMessages, hasOrigin, aborted }: KeptTransaction): boolean {
  return hasOrigin || (hasMessages && aborted.size > 0);
}

/**
 * A transaction that ended, to be handed out step by step so that the output can keep up. A step
 * that wants types gives them, and is taken again after they have been learnt.
 */
export type Replay = Generator<TypesWanted | undefined, void, void>;

export interface BufferedChangeStreamOptions extends ChangeStreamOptions {
  /** A folder for temporary files. */
  readonly spoolDirectory: string;
}

function* decodedKept(decoder: PgoutputDecoder, { bytes, walStart }: SpooledMessage): Replay {
  for (;;) {
    try {
      return decoder.decodeKept(bytes, walStart);
    } catch (error) {
      if (!(error instanceof TypesWanted)) throw error;
      yield error;
    }
  }
}

export class BufferedChangeStream extends ChangeStream {
  readonly #units: UnitListener;
  readonly #directory: string;
  readonly #kept = new Map<number, KeptTransaction>();
  readonly #cursor = new Cursor();
  #decoder: PgoutputDecoder | null = null;
  #open: KeptTransaction | null = null;
  #replay: Replay | null = null;

  constructor(options: BufferedChangeStreamOptions) {
    super(options);
    this.#units = options.units;
    this.#directory = options.spoolDirectory;
  }

  /** The decoder that pushes into this: kept messages go through it when they come out. */
  set decoder(decoder: PgoutputDecoder) {
    this.#decoder = decoder;
  }

  /** Keeps a message of an open stream block. False: it is none, and must be decoded now. */
  keep(bytes: Buffer, start: number, end: number, walStart: LsnWords): boolean {
    if (this.#open === null || bytes[start] === STREAM_STOP) return false;
    if (bytes[start] === MESSAGE) this.#open.hasMessages = true;
    if (bytes[start] === ORIGIN) this.#open.hasOrigin = true;
    this.#open.spool.append(bytes.subarray(start, end), walStart);
    return true;
  }

  /** The transaction that has just ended, if there is one: no message may be decoded before it. */
  takeReplay(): Replay | null {
    const replay = this.#replay;
    this.#replay = null;
    return replay;
  }

  /** Forgets all that is kept: the connection is gone, and what was in progress comes again. */
  discard(): void {
    for (const { spool } of this.#kept.values()) spool.close();
    this.#kept.clear();
    this.#open = null;
  }

  override streamStart({ xid, first }: StreamStart): void {
    if (first) this.#forget(xid);
    const kept = this.#kept.get(xid) ?? {
      xid,
      spool: new TransactionSpool(this.#directory),
      aborted: new Set<number>(),
      hasMessages: false,
      hasOrigin: false,
    };
    this.#kept.set(xid, kept);
    this.#open = kept;
    this.#units.unitOpened();
  }

  override streamStop(): void {
    this.#open = null;
    this.#units.unitSetAside();
  }

  override streamAbort({ xid, subxid }: StreamAbort): void {
    if (xid === subxid) this.#forget(xid);
    else this.#kept.get(xid)?.aborted.add(subxid);
  }

  override streamCommit(commit: StreamCommit): void {
    const { xid, commitLsn, commitTime } = commit;
    this.#replay = this.#replayed(xid, {
      begin: () => this.begin({ commitLsn, commitTime, xid }),
      end: () => this.commit(commit),
    });
  }

  override streamPrepare(prepare: Prepare): void {
    this.#replay = this.#replayed(prepare.xid, {
      begin: () => this.beginPrepare(prepare),
      end: () => this.prepare(prepare),
    });
  }

  *#replayed(xid: number, unit: { begin(): void; end(): void }): Replay {
    const kept = this.#kept.get(xid);
    if (kept !== undefined && isIncomplete(kept)) throw new IncompleteStream();
    unit.begin();
    if (kept !== undefined) yield* this.#messages(kept);
    this.#forget(xid);
    if (!this.finished) unit.end();
  }

  *#messages({ spool, aborted }: KeptTransaction): Replay {
    const decoder = this.#decoder;
    if (decoder === null) throw new ProtocolViolation('stream', 'a transaction without decoder', 0);
    for (const message of spool.messages()) {
      if (this.finished) return;
      if (!this.#wasRolledBack(message, aborted)) yield* decodedKept(decoder, message);
      yield;
    }
  }

  /**
   * Relations and types count even if the subtransaction they came in was rolled back: the server
   * announces them once for the whole transaction.
   */
  #wasRolledBack({ bytes }: SpooledMessage, aborted: ReadonlySet<number>): boolean {
    if (aborted.size === 0) return false;
    const c = this.#cursor;
    c.reset(bytes, 0, bytes.length);
    const tag = c.u8('message type');
    if (tag === RELATION || tag === TYPE || tag === ORIGIN) return false;
    if (!aborted.has(c.u32('xid'))) return false;
    if (ROWS.includes(tag)) this.rowSkipped(c.u32('relation id'));
    return true;
  }

  #forget(xid: number): void {
    this.#kept.get(xid)?.spool.close();
    this.#kept.delete(xid);
  }
}
