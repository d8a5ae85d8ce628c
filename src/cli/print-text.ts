// Prints help and version on standard output: the only output that is not data.

import { writeFileSync } from 'node:fs';
import { EXIT, PgtailError } from '../errors.ts';
import { isReaderGone, outputFailure } from '../output/output.ts';

const STDOUT = 1;

/** @throws PgtailError (output), unless it is a reader who has seen enough. */
export function printText(text: string): void {
  try {
    writeFileSync(STDOUT, text);
  } catch (error) {
    const cause = error as NodeJS.ErrnoException; // writeFileSync throws nothing else
    if (isReaderGone(cause.code)) return;
    throw new PgtailError(EXIT.output, outputFailure(cause).message, { cause });
  }
}
