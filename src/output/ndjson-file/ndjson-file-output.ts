// The file that holds every unit exactly once: written in the thread pool, safe once it is synced.

import { dirname } from 'node:path';
import { EXIT, PgtailError } from '../../errors.ts';
import type { Lsn } from '../../lsn.ts';
import type { Output, OutputListener } from '../output.ts';
import { BlockQueue } from './block-queue.ts';
import { MOST_UNSYNCED } from './examine.ts';
import { FileChanged, fileFailure } from './failure.ts';
import type { FileHeader } from './file-header.ts';
import { nextRotatedFile } from './file-names.ts';
import { FilePlace } from './file-place.ts';
import { errorCode, type FileSystem, statusIfThere, syncFolder } from './file-system.ts';
import { appendHeader, createFile, type OpenFile } from './open-file.ts';
import { openReplacement } from './replacement.ts';
import { UnitEnds } from './unit-ends.ts';

/** Bytes of one write: large enough to cost little, small enough to be no burden in memory. */
const CHUNK_BYTES = 1024 * 1024;

export interface NdjsonFileOptions {
  /** The server's timeline. */
  readonly timeline: number;
  /**
   * Where the stream starts: the file's position, or the slot's if no file has one. With two-phase
   * decoding the server's own if that is further: a prepared transaction that it brings from before
   * there will come with its end.
   */
  readonly position: Lsn;
  /** The stream offset of the first byte that will be written. */
  readonly offset: number;
  /** Milliseconds from the first unsynced byte until a sync begins. */
  readonly fsyncInterval: number;
  /** A file this large is renamed when a unit ends; 0: never. */
  readonly rotateSize: number;
  readonly files?: FileSystem;
}

export interface OpenedFile extends NdjsonFileOptions {
  readonly files: FileSystem;
  /** As the user wrote it. */
  readonly path: string;
  readonly file: OpenFile;
  readonly header: FileHeader;
  readonly listener: OutputListener;
}

/** How far back the file is cut when it cannot be written any more. */
type Remains = 'written' | 'synced' | 'as it is';

interface Waiter {
  readonly isOver: () => boolean;
  readonly resolve: () => void;
}

/**
 * Everything that changes the file happens in one row: one write, cut, rename or reopening at a
 * time, each at its place in the stream. Only syncing goes on beside a write.
 *
 * The owner tells where units end, before or after it hands over their bytes, but before it hands
 * over the bytes behind them.
 */
export class NdjsonFileOutput implements Output {
  readonly #files: FileSystem;
  readonly #path: string;
  readonly #listener: OutputListener;
  /** Milliseconds; a change counts from the next sync on. */
  fsyncInterval: number;
  readonly #rotateSize: number;
  #header: FileHeader;
  #file: OpenFile;
  readonly #place: FilePlace;
  readonly #units: UnitEnds;
  readonly #blocks = new BlockQueue();
  #cuts: { readonly from: number; readonly to: number }[] = [];
  #reopenWanted = false;
  /** Stream offsets: what was taken over, is in the file, is synced. */
  #taken: number;
  #written: number;
  #synced: number;
  #syncedUnits: number;
  /** Bytes of the write in progress. */
  #inFlight = 0;
  #running = false;
  #syncing: Promise<void> | null = null;
  #syncTimer: NodeJS.Timeout | undefined;
  #waiters: Waiter[] = [];
  /** Nothing is begun any more. */
  #stopped = false;
  #failure: { readonly error: PgtailError; readonly remains: Remains } | null = null;
  #isClosed = false;

  /** The file stands at the end of a unit, and is synced: see openNdjsonFile. */
  constructor(opened: OpenedFile) {
    const { files, path, file, header, listener, offset } = opened;
    this.#files = files;
    this.#path = path;
    this.#listener = listener;
    this.fsyncInterval = opened.fsyncInterval;
    this.#rotateSize = opened.rotateSize;
    this.#header = header;
    this.#file = file;
    this.#place = new FilePlace(offset, file.size);
    this.#units = new UnitEnds({ offset, lsn: header.afterLsn, fileLsn: header.afterLsn });
    this.#taken = offset;
    this.#written = offset;
    this.#synced = offset;
    this.#syncedUnits = offset;
  }

  get pending(): number {
    return this.#blocks.length + this.#inFlight;
  }

  /** Everything before this offset of the stream is synced, or was cut out again. */
  get safe(): number {
    return this.#synced;
  }

  /** Where the stream goes on after a reconnect: the end of the last unit. */
  get position(): Lsn {
    return this.#units.latest.lsn;
  }

  write(block: Buffer): void {
    if (this.#stopped) return;
    this.#blocks.push(this.#taken, block);
    this.#taken += block.length;
    this.#run();
  }

  /** A unit ended at `lsn`, with the bytes before this offset of the stream. */
  unitEnded(lsn: Lsn, offset: number): void {
    if (this.#stopped) return;
    this.#units.ended(lsn, offset);
    this.#markWritten();
    this.#run();
  }

  /** Only syncing makes bytes of a file safe: see `sync`. */
  confirmAccepted(): void {}

  /**
   * Takes out what was handed over since the last unit ended: it will come again whole. Hand over
   * everything that was formatted first. Settles when it is done and the file is synced, or cannot
   * be written any more; what is handed over meanwhile follows the last unit.
   */
  cutBack(): Promise<void> {
    if (this.#stopped) return this.sync();
    const from = this.#units.latest.offset;
    const to = this.#taken;
    if (from > to) throw new RangeError('cut back before the last unit was handed over');
    if (from < to) {
      this.#blocks.dropFrom(from);
      this.#cuts.push({ from, to });
      this.#units.cutTo(to);
    }
    return this.sync();
  }

  /**
   * Writes and syncs everything that was handed over until now. Settles also if that fails: the
   * listener hears of it.
   */
  sync(): Promise<void> {
    const target = this.#taken;
    const done = this.#until(() => this.#cuts.length === 0 && this.#synced >= target);
    this.#run();
    return done;
  }

  /**
   * Whether the file at the path is still this one and nobody else wrote to it. Ask on every
   * reconnect, when the slot is held again and `cutBack` has settled; if not, all begins anew with
   * `examine`. @throws PgtailError (output) if the system does not say.
   */
  stillOurs(): boolean {
    const { id, target } = this.#file;
    try {
      const found = statusIfThere(this.#files, target);
      return found?.id === id && found.size === this.#place.of(this.#written);
    } catch (error) {
      throw fileFailure('open', this.#path, error);
    }
  }

  /** The next time a unit ends the file is closed, and what stands at the path then is opened. */
  reopen(): void {
    this.#reopenWanted = true;
    this.#run();
  }

  /**
   * Writes a header for a new timeline: after a reconnect, when `cutBack` has settled and nothing
   * was handed over since.
   */
  timelineChanged(timeline: number): void {
    if (this.#stopped) return;
    if (this.#taken !== this.#units.written.offset) {
      throw new RangeError('a timeline begins between units');
    }
    this.#header = { ...this.#header, timeline };
    const place = this.#place.of(this.#written);
    this.#guarded(() => {
      const header = this.#headerHere();
      this.#place.goesOn(this.#written, appendHeader(this.#files, this.#file.fd, place, header));
    });
  }

  /** Nothing more is written, synced or told. What is being written now still is. */
  close(): void {
    this.#stop();
    this.#closeWhenIdle();
  }

  /** Does what is to be done next, until nothing is. */
  #run(): void {
    if (this.#running || this.#stopped) return;
    const step = this.#nextStep();
    if (step === null) return;
    this.#running = true;
    void this.#guardedStep(step).then(() => {
      this.#running = false;
      if (this.#stopped) return this.#closeWhenIdle();
      this.#run();
      this.#progressed();
    });
  }

  async #guardedStep(step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.#fail(error, 'written');
    }
  }

  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#fail(error, 'written');
    }
  }

  #nextStep(): (() => Promise<void>) | null {
    const cut = this.#cuts[0];
    if (cut !== undefined && this.#written >= cut.from) return () => this.#cut();
    if (this.#written === this.#units.written.offset) {
      if (this.#reopenWanted) return () => this.#reopen();
      if (this.#isFull) return () => this.#rotate();
    }
    if (this.#unsynced + CHUNK_BYTES > MOST_UNSYNCED) return () => this.#syncAll();
    if (this.#blocks.length > 0) return () => this.#writeChunk();
    const isWaitedFor = this.#waiters.length > 0;
    return isWaitedFor && this.#unsynced > 0 ? () => this.#syncAll() : null;
  }

  get #unsynced(): number {
    return this.#written - this.#synced;
  }

  /** One that nothing was added to since it was opened never is. */
  get #isFull(): boolean {
    const size = this.#place.of(this.#written);
    return this.#rotateSize > 0 && size >= this.#rotateSize && size > this.#file.size;
  }

  async #writeChunk(): Promise<void> {
    const chunk = this.#blocks.take(this.#chunkLimit(), CHUNK_BYTES);
    for (let done = 0; done < chunk.length && !this.#stopped; ) {
      this.#inFlight = 0;
      this.#checkSize();
      this.#inFlight = chunk.length - done;
      const rest = done === 0 ? chunk : chunk.subarray(done);
      const place = this.#place.of(this.#written);
      const count = await this.#files.write(this.#file.fd, rest, place);
      if (count === 0) throw new PgtailError(EXIT.output, `cannot write ${this.#path}: it is full`);
      done += count;
      this.#wrote(count);
    }
    this.#listener.returned(chunk);
  }

  #wrote(count: number): void {
    this.#written += count;
    this.#inFlight -= count;
    this.#markWritten();
    this.#scheduleSync();
  }

  /** What waits for the interval is synced now, and from now on nothing waits for it. */
  syncAtOnce(): void {
    this.fsyncInterval = 0;
    clearTimeout(this.#syncTimer);
    this.#syncTimer = undefined;
    this.#scheduleSync();
  }

  /** What a cut will take out again has reached no end of a unit. */
  #markWritten(): void {
    const cut = this.#cuts[0]?.from ?? Number.POSITIVE_INFINITY;
    this.#units.wroteTo(Math.min(this.#written, cut));
  }

  /** The next place in the stream where something else than a write may be due. */
  #chunkLimit(): number {
    const cut = this.#cuts[0]?.from ?? Number.POSITIVE_INFINITY;
    const unit = this.#firstUnitThatEndsTheFile() ?? Number.POSITIVE_INFINITY;
    return Math.min(cut, unit);
  }

  #firstUnitThatEndsTheFile(): number | undefined {
    if (this.#reopenWanted) return this.#units.nextFrom(this.#written);
    if (this.#rotateSize === 0) return undefined;
    const room = this.#rotateSize - this.#place.of(this.#written);
    return this.#units.nextFrom(this.#written + Math.max(room, 1));
  }

  async #cut(): Promise<void> {
    const { from, to } = this.#cuts[0]!;
    await this.#syncing;
    if (this.#stopped) return;
    const place = this.#place.of(from);
    if (this.#written > from) this.#files.truncate(this.#file.fd, place);
    this.#cuts.shift();
    this.#place.goesOn(to, place);
    this.#written = to;
    this.#markWritten();
    await this.#syncAll(); // what comes now must not reach the disk before the cut
  }

  async #rotate(): Promise<void> {
    await this.#syncAll();
    if (this.#stopped) return;
    const { target } = this.#file;
    if (statusIfThere(this.#files, target)?.id !== this.#file.id) return this.#replaceFile();
    if (!this.#renamed(target)) return this.#replaceFile();
    syncFolder(this.#files, dirname(target));
    this.#writeTo(createFile(this.#files, target, this.#headerHere()));
  }

  /** False: somebody else was quicker. */
  #renamed(target: string): boolean {
    try {
      this.#files.rename(target, nextRotatedFile(this.#files, target));
      return true;
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return false;
      throw error;
    }
  }

  async #reopen(): Promise<void> {
    await this.#syncAll();
    if (!this.#stopped) this.#replaceFile();
  }

  /** Somebody may have renamed the file, and put another one in its place. */
  #replaceFile(): void {
    this.#reopenWanted = false;
    const size = this.#place.of(this.#written);
    this.#writeTo(
      openReplacement(this.#files, this.#path, {
        current: { ...this.#file, size },
        header: this.#headerHere(),
        position: this.#units.written.fileLsn,
      }),
    );
  }

  #writeTo(file: OpenFile): void {
    if (file.fd !== this.#file.fd) this.#files.close(this.#file.fd);
    this.#file = file;
    this.#place.goesOn(this.#written, file.size);
  }

  #headerHere(): FileHeader {
    return { ...this.#header, afterLsn: this.#units.written.lsn };
  }

  #scheduleSync(): void {
    if (this.#stopped || this.#syncing !== null || this.#unsynced <= 0) return;
    this.#syncTimer ??= setTimeout(() => void this.#beginSync(), this.fsyncInterval);
  }

  /** Everything that is written now is synced then. */
  async #syncAll(): Promise<void> {
    await this.#syncing;
    if (!this.#stopped) await this.#beginSync();
  }

  #beginSync(): Promise<void> {
    clearTimeout(this.#syncTimer);
    this.#syncTimer = undefined;
    this.#syncing = this.#sync().finally(() => {
      this.#syncing = null;
      if (this.#stopped) return this.#closeWhenIdle();
      this.#scheduleSync();
      this.#run();
      this.#progressed();
    });
    return this.#syncing;
  }

  /** What is written while it goes on may not be covered. */
  async #sync(): Promise<void> {
    const written = this.#written;
    const units = this.#units.written.offset;
    try {
      this.#checkSize();
      await this.#files.dataSync(this.#file.fd);
      if (this.#stopped) return;
      this.#synced = written;
      this.#syncedUnits = units;
    } catch (error) {
      this.#fail(error, 'synced');
    }
  }

  /** A write of somebody else is found out before it is written over, and before a sync. */
  #checkSize(): void {
    const { size } = this.#files.statusOf(this.#file.fd);
    const written = this.#place.of(this.#written);
    if (size < written || size > written + this.#inFlight) throw new FileChanged(this.#path);
  }

  #progressed(): void {
    this.#waiters = this.#waiters.filter(({ isOver, resolve }) => {
      if (!isOver()) return true;
      resolve();
      return false;
    });
    if (!this.#stopped) this.#listener.progressed();
  }

  #until(isOver: () => boolean): Promise<void> {
    if (this.#isClosed || isOver()) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ isOver, resolve }));
  }

  #fail(cause: unknown, remains: Remains): void {
    if (this.#stopped) return;
    const error = fileFailure('write', this.#path, cause);
    this.#failure = { error, remains: cause instanceof FileChanged ? 'as it is' : remains };
    this.#stop();
    this.#closeWhenIdle();
  }

  #stop(): void {
    this.#stopped = true;
    clearTimeout(this.#syncTimer);
    this.#blocks.dropFrom(0);
  }

  /** A descriptor that is still being written to must not be given away. */
  #closeWhenIdle(): void {
    if (this.#isClosed || this.#running || this.#syncing !== null) return;
    this.#isClosed = true;
    if (this.#failure !== null) this.#leaveValid(this.#failure.remains);
    this.#files.close(this.#file.fd);
    if (this.#failure !== null) this.#listener.failed(this.#failure.error);
    for (const { resolve } of this.#waiters.splice(0)) resolve();
  }

  /** Cuts the file to whole units, if that is still possible: the next start would do it, too. */
  #leaveValid(remains: Remains): void {
    if (remains === 'as it is') return;
    const unit = remains === 'written' ? this.#units.written.offset : this.#syncedUnits;
    try {
      this.#files.truncate(this.#file.fd, this.#place.of(Math.max(unit, this.#place.begin)));
    } catch {
      // the first failure is the one to tell
    }
  }
}
