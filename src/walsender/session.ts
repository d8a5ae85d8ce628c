// One replication connection, through pg and pg-logical-replication: the only file that touches
// their private parts.
// https://www.postgresql.org/docs/current/protocol-replication.html

import type { EventEmitter } from 'node:events';
import { connect as connectSocket } from 'node:net';
import type { Client, ClientConfig } from 'pg';
import { LogicalReplicationService } from 'pg-logical-replication';
import { type ConnectionSettings, serverAddress } from '../connection/settings.ts';
import { within } from '../deadline.ts';
import { ProtocolViolation } from '../errors.ts';
import { clientConfig, openWithSsl, type SslAttempt } from './client-config.ts';
import { LendingSocket } from './lending-socket.ts';
import { MessageReader } from './message-reader.ts';
import { letSocketFill, ReadPacing } from './read-pacing.ts';
import { connectFailure } from './server-error.ts';
import { type QueryRows, textQuery } from './text-query.ts';

/** A notice of the server, with what psql would show of it. */
export interface ServerNotice {
  readonly severity: string;
  readonly message: string | undefined;
  readonly detail?: string | undefined;
  readonly hint?: string | undefined;
}

export interface StreamHandler {
  /** One CopyData payload, `bytes[start, end)`. Borrowed: valid until it returns. Must not throw. */
  frame(bytes: Buffer, start: number, end: number): void;
  /** All frames that arrived together were handed over: time to write out what they made. */
  batchEnd(): void;
}

/** The parts of pg's Connection that are used here; a test fails if pg changes one of them. */
interface PgConnection extends EventEmitter {
  readonly stream: PgStream;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  end(): void;
}

interface PgStream extends EventEmitter {
  pause(): void;
  resume(): void;
  destroy(): void;
}

type PgClient = Omit<Client, 'connection'> & {
  readonly connection: PgConnection;
  readonly processID: number;
  readonly secretKey: number;
};

/** How long a stop in the middle of a transaction leaves the server's sending unread, in ms. */
const TERMINATE_QUIET = 150;
/** How long an answer to CopyDone is waited for: it comes in 2 to 3 ms unless the server is busy. */
const COPY_DONE_PATIENCE = 100;
/** After this long a connection that does not end is cut, in ms. */
const CLOSE_DEADLINE = 400;

/**
 * The shell that pg-logical-replication provides: it opens the connection. Its acknowledging is
 * switched off here for good, since it confirms positions whose rows were never written.
 */
class ReplicationService extends LogicalReplicationService {
  override async acknowledge(): Promise<boolean> {
    return false;
  }
}

const isSocketFolder = (host: string): boolean => host.startsWith('/');

export class ReplicationSession {
  readonly #client: PgClient;
  readonly #settings: ConnectionSettings;
  readonly #released: () => void;
  /** For an ordinary connection to the same database, the way this one got in. */
  readonly ordinaryConfig: ClientConfig;
  /** Frames that came while the stream was held, copied. */
  #held: Buffer[] | null = null;
  #handler: StreamHandler | null = null;
  /** Whether many small reads may be made few large ones, which takes up to a millisecond. */
  isPatient = true;
  readonly #pacing = new ReadPacing();
  #paused = false;
  #closing = false;
  #streaming = false;
  /** The server said CommandComplete. */
  #completed = false;
  /** The stream is over, in whichever way. */
  #over = false;

  private constructor(
    client: PgClient,
    settings: ConnectionSettings,
    ssl: SslAttempt,
    released: () => void,
  ) {
    this.#client = client;
    this.#settings = settings;
    this.ordinaryConfig = clientConfig(settings, ssl);
    this.#released = released;
  }

  /** @throws PgtailError: exit code 3, or 4 if the server will not have us as a replication client. */
  static async connect(
    settings: ConnectionSettings,
    onNotice: (notice: ServerNotice) => void,
  ): Promise<ReplicationSession> {
    try {
      return await openWithSsl(settings, (ssl) =>
        ReplicationSession.#open(settings, ssl, onNotice),
      );
    } catch (error) {
      throw connectFailure(error, { ...settings, address: serverAddress(settings) });
    }
  }

  static #open(
    settings: ConnectionSettings,
    ssl: SslAttempt,
    onNotice: (notice: ServerNotice) => void,
  ): Promise<ReplicationSession> {
    return new Promise((resolve, reject) => {
      const config = clientConfig(settings, ssl);
      const service = new ReplicationService(
        // TLS reads from the socket beneath it in its own way
        ssl === false ? { ...config, stream: () => new LendingSocket() } : config,
        { acknowledge: { auto: false, timeoutSeconds: 0 } },
      );
      // errors arrive a second time through the promises of connect and query
      service.on('error', reject);
      // the service keeps the connection until this promise settles
      let release = (): void => {};
      const released = new Promise<void>((resolveReleased) => {
        release = resolveReleased;
      });
      const plugin = {
        name: 'pgoutput',
        options: {},
        parse: (buffer: Buffer) => buffer,
        start(client: Client): Promise<void> {
          client.on('notice', (notice) =>
            onNotice({ ...notice, severity: notice.severity ?? 'NOTICE' }),
          );
          const opened = client as unknown as PgClient; // the private parts, see PgConnection
          resolve(new ReplicationSession(opened, settings, ssl, release));
          return released;
        },
      };
      service.subscribe(plugin, '').catch(reject);
    });
  }

  /** Runs a simple query; several statements give several results. Values come as text. */
  query(sql: string): Promise<readonly QueryRows[]> {
    return textQuery(this.#client, sql);
  }

  /** Frames go to this handler from now on. To be called once, before `start`. */
  attach(handler: StreamHandler): void {
    const { connection } = this.#client;
    const { stream } = connection;
    this.#handler = handler;
    // what is not CopyData is still pg's: its parser hands messages on before it returns
    const parsers = stream.listeners('data') as ((bytes: Buffer) => void)[];
    const reader = new MessageReader({
      copyData: (bytes, start, end) => this.#frame(bytes, start, end),
      others: (bytes) => {
        for (const parse of parsers) parse.call(stream, bytes);
      },
    });
    stream.removeAllListeners('data');
    stream.on('data', (chunk: Buffer) => this.#read(reader, chunk));
    if (stream instanceof LendingSocket) stream.lends = true;
  }

  #read(reader: MessageReader, chunk: Buffer): void {
    try {
      reader.read(chunk);
    } catch (error) {
      this.#over = true;
      this.#client.connection.emit('error', error); // ends the query, and so the stream
    }
    if (this.#closing) return;
    this.#handler?.batchEnd();
    if (!this.isPatient || isSocketFolder(this.#settings.host)) return;
    if (!this.#pacing.shouldWait(chunk.length, performance.now())) return;
    letSocketFill();
    this.#pacing.waited(performance.now());
  }

  #readOrNot(): void {
    const { stream } = this.#client.connection;
    if (this.#paused || this.#held !== null) stream.pause();
    else stream.resume();
  }

  /**
   * Starts streaming, and calls `onStarted` before the first frame; rejected with pg's error if the
   * server refuses, after which another try is possible. `ended` settles when the stream is over:
   * resolved after `finish` or an orderly end by the server, rejected otherwise.
   */
  start(command: string, onStarted = (): void => {}): Promise<{ readonly ended: Promise<void> }> {
    const { connection } = this.#client;
    return new Promise((resolve, reject) => {
      const ended = this.#client.query(command).then(
        () => this.#ended(),
        (error: unknown) => {
          connection.removeListener('replicationStart', onStart);
          const refused = !this.#streaming;
          if (refused) reject(error);
          this.#ended(error);
        },
      );
      ended.catch(() => {}); // whoever awaits it handles it
      const onStart = (): void => {
        this.#streaming = true;
        this.#dropFramesAfterTheEnd();
        onStarted();
        resolve({ ended });
      };
      connection.once('replicationStart', onStart);
    });
  }

  /**
   * What ends a stream may arrive together with further frames, before any promise can tell: after
   * an end that should not be, they must not be taken for the rest of the stream.
   */
  #dropFramesAfterTheEnd(): void {
    const { connection } = this.#client;
    const onOver = (): void => {
      this.#over = true;
    };
    connection.once('commandComplete', () => {
      this.#completed = true;
      onOver();
    });
    connection.once('readyForQuery', onOver);
    connection.once('errorMessage', onOver);
  }

  /** Whether the server has begun to stream. */
  get streaming(): boolean {
    return this.#streaming;
  }

  /** The walsender's process id. */
  get backendPid(): number {
    return this.#client.processID;
  }

  sendStatus(frame: Buffer): void {
    if (this.#streaming) this.#client.connection.sendCopyFromChunk(frame);
  }

  /** Stops reading from the socket, for an output that is full. Writing still works. */
  pause(): void {
    this.#paused = true;
    this.#readOrNot();
  }

  resume(): void {
    this.#paused = false;
    this.#readOrNot();
  }

  /** Hands over no more frames until `release`; those that have arrived already are kept. */
  hold(): void {
    this.#held ??= [];
    this.#readOrNot();
  }

  /** Hands over what was kept, in order, and goes on reading. */
  release(): void {
    const kept = this.#held ?? [];
    this.#held = null;
    while (kept.length > 0 && this.#held === null) {
      const payload = kept.shift()!;
      this.#handler?.frame(payload, 0, payload.length);
    }
    // the handler may have called hold() again
    const heldAgain = this.#held as Buffer[] | null;
    if (heldAgain !== null) heldAgain.unshift(...kept);
    this.#handler?.batchEnd();
    this.#readOrNot();
  }

  /**
   * Ends the stream after a last status, and the connection. Frames still coming are dropped. False:
   * the server did not answer in time.
   */
  async finish(lastStatus: Buffer | null, insideTransaction: boolean): Promise<boolean> {
    if (this.#closing) return false;
    this.#closing = true;
    const { connection } = this.#client;
    const ended = new Promise<void>((resolve) => connection.once('end', resolve));
    if (this.#streaming && lastStatus !== null) connection.sendCopyFromChunk(lastStatus);
    const stopped = this.#streaming && !insideTransaction && (await this.#copyDone());
    if (!stopped) await this.#terminate();
    let answered = true;
    await within(ended, CLOSE_DEADLINE, () => {
      answered = false;
      connection.stream.destroy();
    });
    this.#released();
    return answered;
  }

  /** Cuts the connection at once. */
  readonly destroy = (): void => {
    this.#closing = true;
    this.#client.connection.stream.destroy();
    this.#released();
  };

  /** Asks the server to give up the query that runs, such as a slot's creation that waits. */
  cancel(): void {
    const { host, port } = this.#settings;
    const socket = isSocketFolder(host)
      ? connectSocket(`${host}/.s.PGSQL.${port}`)
      : connectSocket(port, host);
    const request = Buffer.alloc(16);
    request.writeInt32BE(16, 0);
    request.writeInt32BE(80_877_102, 4); // CancelRequest's code
    request.writeInt32BE(this.#client.processID, 8);
    request.writeInt32BE(this.#client.secretKey, 12);
    socket.on('error', () => socket.destroy());
    socket.end(request);
  }

  /** Between transactions the server answers CopyDone within a few ms; false if it does not. */
  async #copyDone(): Promise<boolean> {
    const { connection } = this.#client;
    let answered = false;
    const answer = new Promise<void>((resolve) => {
      connection.once('commandComplete', () => {
        answered = true;
        connection.end();
        resolve();
      });
      connection.once('end', resolve);
    });
    connection.endCopyFrom();
    connection.stream.resume();
    await within(answer, COPY_DONE_PATIENCE, () => {});
    return answered;
  }

  /**
   * In the middle of a transaction the server looks neither for CopyDone nor for a status while it
   * can write. So the socket is left full for a moment: then it reads what we sent.
   */
  async #terminate(): Promise<void> {
    const { connection } = this.#client;
    if (this.#streaming) connection.stream.pause();
    connection.end();
    if (this.#streaming) await new Promise((resolve) => setTimeout(resolve, TERMINATE_QUIET));
    connection.stream.resume();
  }

  #frame(bytes: Buffer, start: number, end: number): void {
    if (this.#closing || this.#over) return;
    if (this.#held !== null) this.#held.push(Buffer.from(bytes.subarray(start, end)));
    else this.#handler?.frame(bytes, start, end);
  }

  /** @throws what ended the stream, unless that was in order or by our own wish. */
  #ended(error?: unknown): void {
    this.#streaming = false;
    // a server that shuts down says CommandComplete and then just closes
    if (this.#closing || this.#completed) return;
    throw error ?? new ProtocolViolation('replication stream', 'ended without CommandComplete', 0);
  }
}
