// What bytes mean in each encoding: the server's own conversion to UTF8 is the judge.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ByteWriter } from '../../../src/byte-writer.ts';
import {
  SERVER_ENCODINGS,
  serverEncoding,
} from '../../../src/pgtypes/encoding/server-encodings.ts';
import {
  nameReader,
  reserveUtf8,
  type TextEncoding,
} from '../../../src/pgtypes/encoding/text-encoding.ts';
import { createDatabase, type TestDatabase } from '../../support/server.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
  await database.sql(`
    CREATE FUNCTION in_utf8(bytes bytea, encoding text) RETURNS text LANGUAGE plpgsql AS $$
    BEGIN
      RETURN convert_from(bytes, encoding);
    EXCEPTION WHEN character_not_in_repertoire OR untranslatable_character THEN
      RETURN NULL;
    END $$`);
});

afterAll(() => database.drop());

/** The text of the bytes; null if they are not valid. */
function decoded({ append }: TextEncoding, bytes: Buffer): string | null {
  const out = new ByteWriter(0);
  reserveUtf8(out, bytes.length);
  return append(out, bytes, 0, bytes.length) ? out.take().toString('utf8') : null;
}

interface Character {
  readonly hex: string;
  readonly text: string | null;
}

/** What the server makes of each of these byte strings. */
function serverCharacters(encoding: string, hexes: string): Promise<Character[]> {
  return database.query<{ hex: string; text: string | null }>(
    `SELECT hex, in_utf8(decode(hex, 'hex'), $1) AS text FROM (${hexes}) AS every (hex)`,
    [encoding],
  );
}

const ONE_BYTE = `SELECT lpad(to_hex(a), 2, '0') FROM generate_series(1, 255) AS a`;
const TWO_BYTES = `SELECT to_hex(a * 256 + b)
  FROM generate_series(128, 255) AS a, generate_series(1, 255) AS b`;
const THREE_BYTES = `SELECT '8f' || to_hex(a * 256 + b)
  FROM generate_series(128, 255) AS a, generate_series(128, 255) AS b`;

const encodingNamed = (name: string): TextEncoding => {
  const encoding = serverEncoding(name);
  if (encoding === undefined) throw new Error(`no encoding ${name}`);
  return encoding;
};

const isMultiByte = (name: string): boolean => name.startsWith('EUC_');
const singleByteNames = SERVER_ENCODINGS.filter((name) => !isMultiByte(name) && name !== 'UTF8');

describe('every byte means what the server says', () => {
  it.each(singleByteNames)('in %s', async (name) => {
    const encoding = encodingNamed(name);
    const characters = await serverCharacters(name, ONE_BYTE);
    expect(characters).toHaveLength(255);
    const ours = characters.map(({ hex }) => [hex, decoded(encoding, Buffer.from(hex, 'hex'))]);
    expect(ours).toEqual(characters.map(({ hex, text }) => [hex, text]));
  });

  it('in UTF8, and what is none is refused', () => {
    const encoding = encodingNamed('UTF8');
    expect(decoded(encoding, Buffer.from('Zürich 🐘'))).toBe('Zürich 🐘');
    for (const hex of ['e9', 'c080', 'eda080', 'f4908080', 'e282']) {
      expect(decoded(encoding, Buffer.from(hex, 'hex'))).toBeNull();
    }
  });
});

describe('every character means what the server says', () => {
  it.each(SERVER_ENCODINGS.filter(isMultiByte))('in %s', async (name) => {
    const encoding = encodingNamed(name);
    const hexes = [ONE_BYTE, TWO_BYTES, ...(name === 'EUC_JP' ? [THREE_BYTES] : [])];
    const characters = await serverCharacters(name, hexes.join(' UNION ALL '));
    const valid = characters.filter(({ text }) => text !== null);
    expect(valid.length).toBeGreaterThan(7000);
    const ours = valid.map(({ hex }) => [hex, decoded(encoding, Buffer.from(hex, 'hex'))]);
    expect(ours).toEqual(valid.map(({ hex, text }) => [hex, text]));
    // some that the server cannot convert are known here, but nothing is guessed
    for (const { hex, text } of characters) {
      if (text !== null) continue;
      const own = decoded(encoding, Buffer.from(hex, 'hex'));
      expect(own ?? '', hex).not.toMatch(/\ufffd/);
      expect(own === null || [...own].length === 1, hex).toBe(true);
    }
  });

  it('also between others, and never when it is cut', () => {
    const encoding = encodingNamed('EUC_JP');
    const bytes = Buffer.from('61c3ed62cab88eb68ff4fb', 'hex');
    expect(decoded(encoding, bytes)).toBe('a注b文ｶ髙');
    for (const hex of ['c3', '61c3', '8fb0', '8f', 'c361', '8e61', 'a0a1', 'ff']) {
      expect(decoded(encoding, Buffer.from(hex, 'hex')), hex).toBeNull();
    }
  });
});

describe('the name of an encoding', () => {
  it.each(['latin-1', 'Latin1', 'iso_8859-1', 'ISO88591'])('%s is LATIN1', (name) => {
    expect(serverEncoding(name)?.name).toBe('LATIN1');
  });

  it.each(['eucjp', 'EUC-JP', 'euc_jp'])('%s is EUC_JP', (name) => {
    expect(serverEncoding(name)?.name).toBe('EUC_JP');
  });

  it.each(['', 'SQL_ASCII', 'MULE_INTERNAL', 'EUC_TW', 'SJIS', 'constructor'])(
    '%j is none that can be read',
    (name) => {
      expect(serverEncoding(name)).toBeUndefined();
    },
  );

  it('is understood as the server understands it', async () => {
    const names = ['win', 'alt', 'koi8', 'tcvn', 'windows-1252', 'iso-8859-15', 'unicode', 'euckr'];
    const rows = await database.query<{ name: string; canonical: string }>(
      `SELECT name, pg_encoding_to_char(pg_char_to_encoding(name)) AS canonical
       FROM unnest($1::text[]) AS name`,
      [names],
    );
    expect(rows.map(({ name }) => serverEncoding(name)?.name)).toEqual(
      rows.map(({ canonical }) => canonical),
    );
  });
});

describe('a name', () => {
  it('is read in its encoding', () => {
    const read = nameReader(encodingNamed('LATIN1'), new ByteWriter(0));
    const bytes = Buffer.from('\x80Größe\xff', 'latin1');
    expect(read(bytes, 1, 6, 'column name')).toBe('Größe');
    expect(read(bytes, 0, 7, 'column name')).toBe('\x80Größeÿ');
  });

  it('that is not in its encoding is an error that does not show it', () => {
    const read = nameReader(encodingNamed('UTF8'), new ByteWriter(0));
    const bytes = Buffer.from('Größe', 'latin1');
    expect(() => read(bytes, 0, bytes.length, 'column name')).toThrow(
      'column name holds bytes that are not valid in UTF8',
    );
  });
});
