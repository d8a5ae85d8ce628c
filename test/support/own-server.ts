// A server that nobody else uses, for what would disturb the shared one: ended walsenders, crashes,
// settings. Impatient, so that a silent client is noticed within a test.

import type { EmbeddedServer } from '../../src/demo/embedded-server.ts';
import { startPrivateServer } from './private-server.ts';
import type { SharedServer } from './server.ts';

export interface OwnServer {
  /** To be stopped at the end. */
  readonly own: EmbeddedServer;
  /** The same, as tests get the shared one. */
  readonly server: SharedServer;
}

export async function startOwnServer(): Promise<OwnServer> {
  const own = await startPrivateServer({ wal_sender_timeout: '2s', checkpoint_timeout: '1h' });
  const { host, port, user, socketDirectory, major, version } = own;
  return { own, server: { host, port, user, socketDirectory, major, version } };
}
