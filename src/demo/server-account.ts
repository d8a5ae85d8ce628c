// Which account the throw-away server runs under: PostgreSQL refuses to run as root.

import { execFileSync } from 'node:child_process';
import { EXIT, PgtailError } from '../errors.ts';

/** What `spawn` needs to run a program as somebody else; empty to run it as ourselves. */
export type ServerAccount =
  | Readonly<Record<string, never>>
  | { readonly uid: number; readonly gid: number };

const UNPRIVILEGED_USER = 'nobody';

/** Our own account, or `nobody` if we are root. */
export function serverAccount(ownUid: number | undefined = process.getuid?.()): ServerAccount {
  if (ownUid !== 0) return {};
  return { uid: lookUp('-u'), gid: lookUp('-g') };
}

function lookUp(flag: '-u' | '-g'): number {
  try {
    return Number(
      execFileSync('id', [flag, UNPRIVILEGED_USER], { encoding: 'utf8', stdio: 'pipe' }),
    );
  } catch (cause) {
    throw new PgtailError(
      EXIT.failure,
      `PostgreSQL refuses to run as root, and there is no user "${UNPRIVILEGED_USER}" to run it as`,
      { hint: 'Run this as an ordinary user.', cause },
    );
  }
}
