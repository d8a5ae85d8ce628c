// Catches the ProtocolViolation that malformed bytes must give, to look at its parts.

import { ProtocolViolation } from '../../src/errors.ts';

/** The violation that `act` throws; anything else, or nothing, fails the test. */
export function violationOf(act: () => void): ProtocolViolation {
  try {
    act();
  } catch (error) {
    if (error instanceof ProtocolViolation) return error;
    throw error;
  }
  throw new Error('expected a ProtocolViolation, but nothing was thrown');
}
