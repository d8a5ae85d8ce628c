// At its end Node gives each terminal back as it found it, and aborts if one was closed meanwhile.

import { closeSync, fstatSync } from 'node:fs';

const STANDARD_DESCRIPTORS = [0, 1, 2];

/** To be called right before the end: what is closed here Node leaves alone. */
export function leaveClosedTerminals(): void {
  for (const descriptor of STANDARD_DESCRIPTORS) {
    if (isClosedTerminal(descriptor)) closeSync(descriptor);
  }
}

/** True of /dev/null as well, which nobody misses. */
function isClosedTerminal(descriptor: number): boolean {
  try {
    if (!fstatSync(descriptor).isCharacterDevice()) return false;
  } catch {
    return false; // no descriptor any more
  }
  // loaded only where there may be a terminal: 5 ms; Node 22 before 22.3 cannot do that
  const tty = process.getBuiltinModule?.('node:tty');
  return tty !== undefined && !tty.isatty(descriptor);
}
