// Starts a server of the major under test; free of Vitest, so that global-setup.ts can use it.

import {
  type EmbeddedServer,
  type EmbeddedServerOptions,
  startEmbeddedServer,
} from '../../src/demo/embedded-server.ts';
import { nativeDirectory } from './server-binaries.ts';

const TEST_SETTINGS: Readonly<Record<string, string>> = {
  // Its transactions of its own would come between those that a test counts.
  autovacuum: 'off',
  max_prepared_transactions: '20',
  max_worker_processes: '16',
  log_min_messages: 'warning',
};

/** A server of the major under test. Use it with `await using`, or call `stop`. */
export function startPrivateServer(
  settings: Readonly<Record<string, string>> = {},
  options: Omit<EmbeddedServerOptions, 'settings' | 'nativeDirectory'> = {},
): Promise<EmbeddedServer> {
  return startEmbeddedServer({
    ...options,
    nativeDirectory: nativeDirectory(),
    settings: { ...TEST_SETTINGS, ...settings },
  });
}
