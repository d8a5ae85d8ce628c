// Names of the catalog, which are read as bytes: one that is no text must not spoil the answer, and
// where the server converts nothing they are in the encoding that all text is read in.
// https://www.postgresql.org/docs/current/functions-binarystring.html

import { ByteWriter } from '../byte-writer.ts';
import { appendUtf8, reserveUtf8, type TextEncoding } from '../pgtypes/encoding/text-encoding.ts';

/** What must be known of a database to ask its catalog. */
export interface Catalog {
  readonly major: number;
  readonly names: CatalogNames;
}

export interface CatalogNames {
  /** SQL for the hexadecimal digits of a name's bytes. */
  readonly hexOf: (expression: string) => string;
  /** Undefined: the bytes are not text. */
  readonly read: (hex: string) => string | undefined;
  /** For messages: what is not text is shown as U+FFFD. */
  readonly show: (hex: string) => string;
}

const UTF8: TextEncoding = { name: 'UTF8', append: appendUtf8 };

/** `readAs` is what the text of the database is read as, if the server is not to convert it. */
export function catalogNames(databaseEncoding: string, readAs?: TextEncoding): CatalogNames {
  const unconverted = readAs !== undefined || databaseEncoding === 'SQL_ASCII';
  // to SQL_ASCII nothing is converted, nor is anything refused
  const wanted = unconverted ? 'SQL_ASCII' : 'UTF8';
  const { append } = readAs ?? UTF8;
  const read = (hex: string): string | undefined => {
    const bytes = Buffer.from(hex, 'hex');
    const out = new ByteWriter(bytes.length);
    reserveUtf8(out, bytes.length);
    if (!append(out, bytes, 0, bytes.length)) return undefined;
    return out.bytes.toString('utf8', 0, out.length);
  };
  return {
    hexOf: (expression) =>
      `pg_catalog.encode(pg_catalog.convert_to((${expression})::text, '${wanted}'), 'hex')`,
    read,
    show: (hex) => read(hex) ?? Buffer.from(hex, 'hex').toString('utf8'),
  };
}
