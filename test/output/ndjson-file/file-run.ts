// A file being written by a test: hands over units as the tail does.

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { PgtailError } from '../../../src/errors.ts';
import { type Examined, examine } from '../../../src/output/ndjson-file/examine.ts';
import { openNdjsonFile } from '../../../src/output/ndjson-file/ndjson-file.ts';
import type {
  NdjsonFileOptions,
  NdjsonFileOutput,
} from '../../../src/output/ndjson-file/ndjson-file-output.ts';
import { temporaryFolder } from '../../support/pty.ts';
import { until } from '../../support/until.ts';
import { ORIGIN, transaction } from './lines.ts';

export const POSITION = 100n;

export class FileRun implements Disposable {
  readonly path: string;
  readonly output: NdjsonFileOutput;
  readonly failures: PgtailError[] = [];
  /** The stream offset of the next byte. */
  offset: number;
  readonly #folder: Disposable;

  constructor(
    options: Partial<NdjsonFileOptions> = {},
    folder: Disposable & { readonly path: string } = temporaryFolder(),
  ) {
    this.#folder = folder;
    this.path = join(folder.path, 'shop.ndjson');
    this.offset = options.offset ?? 0;
    const listener = {
      progressed: () => {},
      readerGone: () => {},
      returned: () => {},
      failed: (error: PgtailError) => void this.failures.push(error),
    };
    const all = { timeline: 1, position: POSITION, offset: 0, fsyncInterval: 1, rotateSize: 0 };
    this.output = openNdjsonFile(this.examined(), { ...all, ...options }, listener);
  }

  examined(): Examined {
    return examine({ path: this.path, ...ORIGIN, timeline: 1 });
  }

  /** Hands over text that ends no unit. */
  write(text: string): void {
    const block = Buffer.from(text);
    this.offset += block.length;
    this.output.write(block);
  }

  /** Hands over a unit; one transaction, unless another text is given. */
  unit(lsn: bigint, text: string = transaction(lsn)): void {
    const block = Buffer.from(text);
    this.offset += block.length;
    this.output.unitEnded(lsn, this.offset);
    this.output.write(block);
  }

  /** What the file holds now. */
  contents(suffix = ''): string {
    return readFileSync(this.path + suffix, 'utf8');
  }

  get size(): number {
    return statSync(this.path).size;
  }

  async failure(): Promise<PgtailError> {
    return until(() => this.failures[0], { what: 'a failure', timeout: 5000, interval: 1 });
  }

  [Symbol.dispose](): void {
    this.output.close();
    this.#folder[Symbol.dispose]();
  }
}
