// What is said when the file cannot be used.

import { dirname } from 'node:path';
import { getSystemErrorMap } from 'node:util';
import { EXIT, PgtailError } from '../../errors.ts';

/** The file is not what was examined: another process has changed or replaced it. Examine again. */
export class FileChanged extends PgtailError {
  constructor(path: string) {
    super(EXIT.output, `${path} was changed by another process`, {
      hint: 'only one pgtail may write it, and nothing else; nothing unsynced was acknowledged',
    });
  }
}

/** The system refused something. `cause` is a NodeJS.ErrnoException. */
export function fileFailure(action: 'open' | 'write', path: string, cause: unknown): PgtailError {
  if (cause instanceof PgtailError) return cause;
  const { code, errno, message } = cause as NodeJS.ErrnoException;
  const reason = getSystemErrorMap().get(errno ?? 0)?.[1] ?? message;
  const hint = code === 'ENOENT' ? `the folder ${dirname(path)} must exist` : HINTS[action];
  return new PgtailError(EXIT.output, `cannot ${action} ${path}: ${reason}`, { hint, cause });
}

const HINTS = {
  open: undefined,
  write: 'nothing unsynced was acknowledged: mend it and start again',
} as const;

const ANOTHER_FILE = 'name another file, or move this one away';

export function notOurFile(path: string, problem: string): PgtailError {
  return new PgtailError(EXIT.output, `cannot append to ${path}: ${problem}`, {
    hint: ANOTHER_FILE,
  });
}

export function foreignFile(path: string, kind: string, found: string, own: string): PgtailError {
  const names = `${kind} ${JSON.stringify(found)}, not to ${JSON.stringify(own)}`;
  return new PgtailError(EXIT.slot, `${path} belongs to ${names}`, { hint: ANOTHER_FILE });
}
