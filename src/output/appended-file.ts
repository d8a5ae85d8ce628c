// A file that lines are appended to as they come: for what is read by people, at least once.

import { closeSync, openSync } from 'node:fs';
import { PgtailError } from '../errors.ts';
import { DescriptorOutput } from './descriptor-output.ts';
import { type Output, type OutputListener, outputFailure } from './output.ts';

/** `onHangup` calls back when what stands at the path is to be opened anew. */
export function openAppendedFile(
  path: string,
  listener: OutputListener,
  onHangup: (reopen: () => void) => void,
): Output {
  const output = new DescriptorOutput(opened(path), listener, path);
  onHangup(() => {
    try {
      closeSync(output.moveTo(opened(path)));
    } catch (error) {
      if (error instanceof PgtailError) listener.failed(error);
    }
  });
  return output;
}

/** @throws PgtailError (output) */
function opened(path: string): number {
  try {
    return openSync(path, 'a');
  } catch (error) {
    throw outputFailure(error as NodeJS.ErrnoException, path); // openSync throws nothing else
  }
}
