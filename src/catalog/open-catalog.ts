// An ordinary connection for a command that looks at a server and needs no replication connection:
// made as the tail makes its own, with the same errors.

import type { ClientConfig } from 'pg';
import { type ConnectionSettings, serverAddress } from '../connection/settings.ts';
import { clientConfig, openWithSsl, type SslAttempt } from '../walsender/client-config.ts';
import { connectFailure } from '../walsender/server-error.ts';
import { CatalogConnection } from './catalog-connection.ts';

export interface CatalogAccess {
  /** The server refuses whatever would change something. */
  readonly readOnly: boolean;
  /** How long a query may take, in ms; 0: for ever. Default: a catalog query's time. */
  readonly queryPatience?: number;
}

/**
 * To be closed at the end.
 * @throws PgtailError: exit code 3, or 4 if the server has no room or no permission for us
 */
export async function openCatalog(
  settings: ConnectionSettings,
  access: CatalogAccess,
): Promise<CatalogConnection> {
  try {
    return await openWithSsl(settings, async (ssl) => {
      const config = sessionConfig(settings, ssl, access);
      const connection = new CatalogConnection(config, access.queryPatience);
      await connection.run(async () => {});
      return connection;
    });
  } catch (error) {
    throw connectFailure(error, { ...settings, address: serverAddress(settings) });
  }
}

function sessionConfig(
  settings: ConnectionSettings,
  ssl: SslAttempt,
  { readOnly }: CatalogAccess,
): ClientConfig {
  const config = clientConfig(settings, ssl);
  if (!readOnly) return config;
  return { ...config, options: `${config.options} -c default_transaction_read_only=on` };
}
