// The file of `-f`, over all connections of a run: where the stream begins is what the file says, and
// it is opened only while the slot is held, which keeps a second pgtail away from it.

import { EXIT, PgtailError } from '../errors.ts';
import { formatLsn, INVALID_LSN, type Lsn, laterLsn } from '../lsn.ts';
import { checkCreatable, type Examined, examine } from '../output/ndjson-file/examine.ts';
import { FileChanged } from '../output/ndjson-file/failure.ts';
import { openNdjsonFile } from '../output/ndjson-file/ndjson-file.ts';
import type { NdjsonFileOutput } from '../output/ndjson-file/ndjson-file-output.ts';
import type { Output, OutputListener } from '../output/output.ts';
import type { ReplicationSession } from '../walsender/session.ts';
import { checkSameHistory, checkWithinWal, type SystemIdentity } from '../walsender/timeline.ts';
import type { Source } from './prepare.ts';

export interface FileOptions {
  readonly path: string;
  /** Milliseconds from the first unsynced byte until a sync begins. */
  readonly fsyncInterval: number;
  /** A file this large is renamed when a unit ends; 0: never. */
  readonly rotateSize: number;
}

/**
 * For a slot that is still to be made, which would stay behind if the file then could not be used.
 * @throws PgtailError: exit code 6 if the file needs what such a slot does not have, or belongs to
 * another one, 8 if it cannot be used.
 */
export function checkFileOfNewSlot(
  { path }: FileOptions,
  slot: string,
  { system, timeline }: SystemIdentity,
): void {
  const examined = examine({ path, slot, system, timeline });
  checkCreatable(examined);
  if (examined.position === undefined) return;
  const at = formatLsn(examined.position);
  throw new PgtailError(
    EXIT.slot,
    `slot ${JSON.stringify(slot)} does not exist any more, and ${path} holds its changes up to ${at}: those that come between would be missing in the file`,
    { hint: 'begin a new file with a new slot' },
  );
}

export class FileTarget implements Output {
  readonly #options: FileOptions;
  readonly #listener: OutputListener;
  #examined: Examined | null = null;
  #output: NdjsonFileOutput | null = null;
  #timeline = 0;
  /** Everything up to here was written and synced, into whichever file. */
  #known: Lsn = INVALID_LSN;

  constructor(options: FileOptions, listener: OutputListener) {
    this.#options = options;
    this.#listener = listener;
  }

  get pending(): number {
    return this.#output?.pending ?? 0;
  }

  get safe(): number {
    return this.#output?.safe ?? 0;
  }

  write(block: Buffer): void {
    this.#output?.write(block);
  }

  confirmAccepted(): void {}

  unitEnded(lsn: Lsn, offset: number): void {
    this.#output?.unitEnded(lsn, offset);
  }

  /**
   * Where the stream is to begin; 0/0: at the slot's position. To be asked before it starts.
   * @throws PgtailError: exit code 6 if the file belongs to another slot, system or history, 8 if it
   * cannot be used.
   */
  async startPosition(session: ReplicationSession, source: Source): Promise<Lsn> {
    if (this.#output !== null) return this.#output.position;
    const { slot, identity, server } = source;
    const { system, timeline } = identity;
    const { path } = this.#options;
    const examined = examine({ path, slot: slot.name, system, timeline });
    this.#examined = examined;
    if (examined.position === undefined) return this.#known;
    const position = laterLsn(examined.position, this.#known);
    const before = { system, timeline: examined.timeline ?? timeline };
    await checkSameHistory(session, before, identity, position);
    if (before.timeline === timeline) checkWithinWal(position, server.walEnd);
    return position;
  }

  /**
   * The stream has started: the slot is held. `offset` is that of the first byte to come.
   * @throws PgtailError: transient if the file is another one than before.
   */
  started(source: Source, offset: number): void {
    // somebody waits for each sync, and those that come meanwhile share the next one
    const fsyncInterval = source.commitsWait ? 0 : this.#options.fsyncInterval;
    if (this.#output === null) return this.#open(source, offset, fsyncInterval);
    this.#output.fsyncInterval = fsyncInterval;
    this.#goOn(this.#output, source.identity.timeline);
  }

  /** Takes out what is not whole, and syncs the rest: all that was formatted was handed over. */
  async cutBack(): Promise<void> {
    await this.#output?.cutBack();
  }

  /** The next time a unit ends the file is closed, and what stands at the path then is opened. */
  reopen(): void {
    this.#output?.reopen();
  }

  /** Somebody waits for each sync: see `started`. */
  syncAtOnce(): void {
    this.#output?.syncAtOnce();
  }

  /** What comes from now on is of another timeline. To be called between units, as after cutBack. */
  timelineChanged(timeline: number): void {
    if (timeline !== this.#timeline) this.#output?.timelineChanged(timeline);
    this.#timeline = timeline;
  }

  close(): void {
    this.#output?.close();
  }

  #open({ slot, identity, isTwoPhase }: Source, offset: number, fsyncInterval: number): void {
    const examined = this.#examined!; // see startPosition
    const { rotateSize } = this.#options;
    // what was prepared before the slot's position comes again together with its end
    const counts = isTwoPhase || examined.position === undefined;
    const atLeast = (counts ? slot.position : undefined) ?? INVALID_LSN;
    const inFiles = laterLsn(examined.position ?? INVALID_LSN, this.#known);
    const position = laterLsn(inFiles, atLeast);
    const { timeline } = identity;
    this.#timeline = timeline;
    try {
      this.#output = openNdjsonFile(
        examined,
        { timeline, position, offset, fsyncInterval, rotateSize },
        this.#listener,
      );
    } catch (error) {
      throw error instanceof FileChanged ? changed(error) : error;
    }
  }

  #goOn(output: NdjsonFileOutput, timeline: number): void {
    if (!output.stillOurs()) {
      this.#known = output.position;
      output.close();
      this.#output = null;
      throw changed(new FileChanged(this.#options.path));
    }
    this.timelineChanged(timeline);
  }
}

/** Somebody else held the slot meanwhile: it is looked at again on a new connection. */
const changed = (cause: FileChanged): PgtailError =>
  new PgtailError(cause.exitCode, cause.message, { hint: cause.hint, cause, transient: true });
