// Words of a fix that is a shell command, quoted where they need it.

const PLAIN = /^[\w.-]+$/;

export const shellWord = (text: string): string =>
  PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** A value in a connection string: https://www.postgresql.org/docs/current/libpq-connect.html */
export const conninfoValue = (text: string): string =>
  PLAIN.test(text) ? text : `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
