// The locale that amounts of money are printed in: the database's, whoever connects and with
// whichever options.
// https://www.postgresql.org/docs/current/datatype-money.html

import * as z from 'zod/mini';
import { quoteLiteral } from './commands.ts';
import type { ReplicationSession } from './session.ts';

/** What the session's lc_monetary is. */
export type MoneyLocale =
  /** What the database has: nobody says otherwise. */
  | { readonly kind: 'in effect' }
  /** Of the role or the client's options: this one of the database must take its place. */
  | { readonly kind: 'to be set'; readonly name: string }
  /** Of the role or the client's options, and nobody may tell us what the database has. */
  | { readonly kind: 'overridden'; readonly name: string };

/** pg_settings.source, where the role or the client decides. */
const OVERRIDING: readonly string[] = ['user', 'database user', 'client', 'session'];

const settingRow = z.object({ name: z.string(), source: z.string() });

const nameRow = z.object({ name: z.string() });

/** ALTER ROLE ALL says less than ALTER DATABASE; both say more than the configuration. */
const SESSION_SQL = `
SELECT setting AS name, source FROM pg_settings WHERE name = 'lc_monetary';
SELECT substr(entry, length('lc_monetary=') + 1) AS name
FROM pg_db_role_setting AS s
LEFT JOIN pg_database AS d ON d.oid = s.setdatabase
CROSS JOIN unnest(s.setconfig) AS entry
WHERE s.setrole = 0 AND (s.setdatabase = 0 OR d.datname = current_database())
  AND split_part(entry, '=', 1) = 'lc_monetary'
ORDER BY s.setdatabase DESC LIMIT 1;`;

/** Only superusers may read it, unless somebody lets others. */
const CONFIGURATION_SQL = `
SELECT setting AS name FROM pg_file_settings WHERE name = 'lc_monetary' AND applied;`;

type Session = Pick<ReplicationSession, 'query'>;

/** @throws pg's error */
export async function readMoneyLocale(session: Session): Promise<MoneyLocale> {
  const [settings = [], ofDatabase = []] = await session.query(SESSION_SQL);
  const { name, source } = settingRow.parse(settings[0]);
  if (!OVERRIDING.includes(source)) return { kind: 'in effect' };
  const ownNames = ofDatabase.map((row) => nameRow.parse(row).name);
  for (const candidate of [...ownNames, ...(await configuredNames(session))]) {
    if (await canBeSet(session, candidate)) return { kind: 'to be set', name: candidate };
  }
  return { kind: 'overridden', name };
}

export const setMoneyLocale = (name: string): string =>
  `SELECT pg_catalog.set_config('lc_monetary', ${quoteLiteral(name)}, false);`;

async function configuredNames(session: Session): Promise<string[]> {
  try {
    const [rows = []] = await session.query(CONFIGURATION_SQL);
    return rows.map((row) => nameRow.parse(row).name);
  } catch {
    return []; // the role may not read it
  }
}

/** As at the start of a session, a locale that is not installed any more does not count. */
async function canBeSet(session: Session, name: string): Promise<boolean> {
  try {
    await session.query(setMoneyLocale(name));
    return true;
  } catch {
    return false;
  }
}
