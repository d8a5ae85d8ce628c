// The machine that pgtail runs on, as far as it decides where to connect.

import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import type { Machine } from '../connection/settings.ts';
import { EXIT, PgtailError } from '../errors.ts';

export function thisMachine(env: Machine['env'] = process.env): Machine {
  return {
    env,
    get userName() {
      return userName();
    },
    exists: existsSync,
  };
}

/** Asked for only if no role is named: a container's user id may well have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch (cause) {
    throw new PgtailError(EXIT.usage, 'no role to connect as: this user id has no name', {
      hint: 'give -U, --username or set PGUSER',
      cause,
    });
  }
}
