// The way of the lines out, for the whole run: from the formatter's buffer to the output, over as
// many connections as it takes.

import { ByteWriter } from '../byte-writer.ts';
import type { PgtailError } from '../errors.ts';
import type { Lsn } from '../lsn.ts';
import type { Output, OutputListener } from '../output/output.ts';
import { type FileOptions, FileTarget } from './file-target.ts';

/** With more than this unwritten nothing more should be made; with half of it, it goes on. */
const HIGH_WATER = 1024 * 1024;

export interface DeliveryListener {
  /** More of what was written has arrived. */
  progressed(): void;
  /** Nothing can be delivered any more: the reader has gone, or writing failed. */
  deliveryEnded(failure: PgtailError | null): void;
}

export class Delivery implements OutputListener {
  /** What formatters append to. */
  readonly writer = new ByteWriter();
  #output!: Output; // set by open, before anybody has this object
  /** The file of `-f`, if the output is one. */
  readonly file: FileTarget | null = null;
  #listener: DeliveryListener | null = null;
  #ended = false;
  #failure: PgtailError | null = null;
  #wake: (() => void)[] = [];

  private constructor(file?: FileOptions) {
    if (file !== undefined) this.file = new FileTarget(file, this);
  }

  /** `file` in the place of what `openOutput` opens. */
  static async open(
    openOutput: (listener: OutputListener) => Promise<Output>,
    file?: FileOptions,
  ): Promise<Delivery> {
    const delivery = new Delivery(file);
    delivery.#output = delivery.file ?? (await openOutput(delivery));
    return delivery;
  }

  /** Who is told from now on; told at once if there is nothing to be delivered any more. */
  set listener(listener: DeliveryListener) {
    this.#listener = listener;
    if (this.#ended) listener.deliveryEnded(this.#failure);
  }

  /** See Output.safe: everything before this offset may be acknowledged. */
  get safe(): number {
    return this.#output.safe;
  }

  /** The reader does not keep up. */
  get isFull(): boolean {
    return this.#output.pending > HIGH_WATER;
  }

  get hasRoom(): boolean {
    return this.#output.pending <= HIGH_WATER / 2;
  }

  /** See Output.confirmAccepted. */
  confirmAccepted(): void {
    if (!this.#ended) this.#output.confirmAccepted();
  }

  /** A unit ended at `lsn`, with all that was formatted until now. */
  unitEnded(lsn: Lsn): void {
    this.file?.unitEnded(lsn, this.writer.offset);
  }

  /** Hands over what was formatted. */
  flush(): void {
    if (this.#ended || this.writer.length === 0) return;
    this.#output.write(this.writer.take());
  }

  /** When there is room again, or nothing can be delivered any more. */
  async roomAgain(): Promise<void> {
    while (!this.#ended && !this.hasRoom) await this.#nextProgress();
  }

  /** When everything was accepted, or nothing can be delivered any more. */
  async allAccepted(): Promise<void> {
    while (!this.#ended && this.#output.pending > 0) await this.#nextProgress();
  }

  close(): void {
    this.#output.close();
  }

  progressed(): void {
    if (this.#output === undefined) return; // still being opened
    this.#listener?.progressed();
    this.#wakeAll();
  }

  returned(block: Buffer): void {
    this.writer.giveBack(block);
  }

  readerGone(): void {
    this.#end(null);
  }

  failed(error: PgtailError): void {
    this.#end(error);
  }

  #end(failure: PgtailError | null): void {
    this.#ended = true;
    this.#failure = failure;
    this.#listener?.deliveryEnded(failure);
    this.#wakeAll();
  }

  #nextProgress(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve));
  }

  #wakeAll(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}
