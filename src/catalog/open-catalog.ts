// An ordinary connection for a command that looks at a server and needs no replication connection:
// made as the tail makes its own, with the same errors.

import type { ClientConfig } from 'pg';
import { type ConnectionSettings, serverAddress } from '../connection/settings.ts';
import { EXIT, PgtailError } from '../errors.ts';
import { quoteIdentifier } from '../pgoutput/quote-identifier.ts';
import { clientConfig, openWithSsl, type SslAttempt } from '../walsender/client-config.ts';
import { connectFailure, hasSqlState } from '../walsender/server-error.ts';
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
    throw ordinaryConnectFailure(error, settings);
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

/** The only permission that an ordinary connection needs is CONNECT. */
const INSUFFICIENT_PRIVILEGE = '42501';

function ordinaryConnectFailure(error: unknown, settings: ConnectionSettings): PgtailError {
  const { user, database, timeZone } = settings;
  if (hasSqlState(error, INSUFFICIENT_PRIVILEGE)) {
    const who = `role ${JSON.stringify(user)}`;
    const where = `database ${JSON.stringify(database)}`;
    const grant = `GRANT CONNECT ON DATABASE ${quoteIdentifier(database)} TO ${quoteIdentifier(user)};`;
    return new PgtailError(EXIT.notReady, `${who} may not connect to ${where}`, {
      hint: `as its owner or a superuser: ${grant}`,
      cause: error,
    });
  }
  return connectFailure(error, { address: serverAddress(settings), user, timeZone });
}
