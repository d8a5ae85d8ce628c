// The password file: lines of host:port:database:user:password, the first that fits counts.
// https://www.postgresql.org/docs/current/libpq-pgpass.html

import type { ConnectionSettings } from './settings.ts';

/** The password for these settings, or undefined if no line of the file fits. */
export function passwordFromFile(text: string, settings: ConnectionSettings): string | undefined {
  // a Unix socket goes by the name localhost, or by its folder
  const hosts = settings.host.startsWith('/') ? ['localhost', settings.host] : [settings.host];
  const wanted = [hosts, [String(settings.port)], [settings.database], [settings.user]];
  for (const line of text.split(/\r?\n/)) {
    if (line === '' || line.startsWith('#')) continue;
    const fields = splitFields(line);
    const fits = wanted.every((values, i) => ['*', ...values].includes(fields[i]!));
    if (fits && fields.length === 5) return fields[4];
  }
  return undefined;
}

/** Colons part the fields; a backslash takes the next character as it is. */
function splitFields(line: string): string[] {
  const fields = [''];
  for (let i = 0; i < line.length; i++) {
    const char = line[i]!;
    if (char === '\\' && i + 1 < line.length) fields[fields.length - 1] += line[++i]!;
    else if (char === ':' && fields.length < 5) fields.push('');
    else fields[fields.length - 1] += char;
  }
  return fields;
}
