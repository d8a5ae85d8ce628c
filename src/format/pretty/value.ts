// One value as people want to see it: safe, in its colour, quoted where it could be mistaken.

import { COLUMN_BINARY, COLUMN_NULL, type TupleData } from '../../pgoutput/tuple.ts';
import { withoutRawChars } from '../../pgtypes/char.ts';
import { fitText } from '../../terminal/safe-text.ts';
import type { Paint, Theme } from '../../terminal/theme.ts';
import { formatSize } from '../quantities.ts';
import { quoted } from './identifier.ts';
import type { ValueKind } from './value-kind.ts';

/** Wider than every terminal: the width of a value of which only the beginning was read. */
const BEYOND = 1_000_000;

/** Values that make sense only whole, such as a uuid or a timestamp, are not cut below this. */
const WHOLE_UP_TO = 40;

/** A size is worth its place only beside this much of the value. */
const SHORTEST_BEGINNING = 4;

/** Of a longer bytea people see the first bytes, enough for a file's signature. */
const BYTEA_DIGITS = 32;

const HEX_PREFIX = '\\x'.length;

/**
 * Text that would look like something else, or end elsewhere than it seems: nothing at all, NULL,
 * our own signs, spaces at an end, the two spaces that stand between columns.
 */
const AMBIGUOUS = /^$|^['"]|^\s|\s$| {2}|[∅→‹›…]|^null$/i;

const LINE_BREAK = /\s*[\r\n]+\s*/g;

const CONTINUATION_BITS = 0xc0;
const CONTINUATION = 0x80;

export interface ShownValue {
  /** Safe and whole, without colour; only if `width` columns are there for it. */
  readonly text: string;
  readonly width: number;
  readonly paint: Paint;
  readonly alignRight: boolean;
  /** Whether it may be cut to fit into its line. */
  readonly elastic: boolean;
  /** The beginning of the value, unsafe, to cut from; and how many bytes all of it has. */
  readonly beginning: string;
  readonly bytes: number;
  readonly quotes: boolean;
}

/** Reads values from borrowed tuples; what it returns is the caller's to keep. */
export class ValueReader {
  readonly #theme: Theme;
  readonly #paints: Readonly<Record<ValueKind, Paint>>;
  readonly nullValue: ShownValue;
  readonly unchanged: ShownValue;

  constructor(theme: Theme) {
    this.#theme = theme;
    this.#paints = {
      boolean: theme.boolean,
      number: theme.number,
      time: theme.time,
      json: theme.json,
      bytea: theme.dim,
      word: theme.string,
      text: theme.string,
    };
    this.nullValue = sign('∅', theme.nullValue);
    this.unchanged = sign('‹unchanged›', theme.dim);
  }

  /** The value of a column that is NULL, text or binary, read as far as `columns` can show it. */
  read(tuple: TupleData, column: number, kind: ValueKind, columns: number): ShownValue {
    const wireKind = tuple.kinds[column];
    if (wireKind === COLUMN_NULL) return this.nullValue;
    const start = tuple.starts[column]!;
    const bytes = tuple.ends[column]! - start;
    if (wireKind === COLUMN_BINARY) return sign(`‹binary ${formatSize(bytes)}›`, this.#theme.dim);
    if (kind === 'boolean') return this.#boolean(tuple.text(column));
    if (kind === 'bytea') return this.#bytea(tuple.bytes, start, bytes);
    return this.#text(tuple.bytes, start, bytes, kind, columns);
  }

  /** Text that came as bytes, such as the content of a message. */
  readText(source: Buffer, columns: number): ShownValue {
    return this.#text(source, 0, source.length, 'text', columns);
  }

  /** Bytes that are not text. */
  readBytes(source: Buffer): ShownValue {
    const digits = source.toString('hex', 0, BYTEA_DIGITS / 2);
    return this.#hex(`\\x${digits}`, source.length);
  }

  #text(
    source: Buffer,
    start: number,
    bytes: number,
    kind: ValueKind,
    columns: number,
  ): ShownValue {
    // four bytes a column are enough for all but towers of marks, which are cut a little sooner
    const read = bytes > columns * 4 ? wholeCharacters(source, start, columns * 4) : bytes;
    const beginning = singleLine(readableText(source, start, start + read), kind);
    // where it was cut we do not know what follows a space
    const quotes =
      kind === 'text' && AMBIGUOUS.test(read === bytes ? beginning : beginning.trimEnd());
    const fitted = fitText(quotes ? quoted(beginning) : beginning, columns, this.#theme.escape);
    const whole = fitted.whole && read === bytes;
    return {
      text: fitted.text,
      width: whole ? fitted.width : BEYOND,
      paint: this.#paints[kind],
      alignRight: kind === 'number',
      elastic: !whole || isElastic(kind) || fitted.width > WHOLE_UP_TO,
      beginning,
      bytes,
      quotes,
    };
  }

  /** `t` and `f` on the wire. */
  #boolean(wire: string): ShownValue {
    const text = wire === 't' ? 'true' : wire === 'f' ? 'false' : wire;
    const fitted = fitText(text, WHOLE_UP_TO, this.#theme.escape);
    return sign(fitted.text, this.#theme.boolean, fitted.width);
  }

  /** bytea_output is pinned to hex: two digits a byte after `\x`. */
  #bytea(source: Buffer, start: number, length: number): ShownValue {
    const shown = Math.min(length, HEX_PREFIX + BYTEA_DIGITS);
    const text = source.toString('latin1', start, start + shown);
    return this.#hex(text, Math.max(0, (length - HEX_PREFIX) >> 1));
  }

  #hex(beginning: string, bytes: number): ShownValue {
    const whole = bytes <= BYTEA_DIGITS / 2;
    const shown = whole ? beginning : `‹${formatSize(bytes)}› ${beginning.slice(0, 18)}…`;
    const fitted = fitText(shown, WHOLE_UP_TO, this.#theme.escape);
    return sign(fitted.text, this.#theme.dim, fitted.width);
  }

  /** The value in at most `limit` columns: whole, or its size and as much as fits. */
  render(value: ShownValue, limit: number): string {
    return value.width <= limit ? value.paint(value.text) : this.#cut(value, limit);
  }

  #cut(value: ShownValue, limit: number): string {
    if (!value.elastic) {
      const { text } = fitText(value.beginning, limit - 1, this.#theme.escape);
      return value.paint(limit < 1 ? '' : `${text}…`);
    }
    const size = `‹${formatSize(value.bytes)}›`;
    const quote = value.quotes ? "'" : '';
    const room = limit - size.length - 1 - quote.length - 1;
    if (room < SHORTEST_BEGINNING) return this.#theme.dim(fitText(size, limit).text);
    const source = value.quotes ? value.beginning.replaceAll("'", "''") : value.beginning;
    const { text } = fitText(source, room, this.#theme.escape);
    return `${this.#theme.dim(size)} ${value.paint(`${quote}${text}`)}${this.#theme.dim('…')}`;
  }
}

/** What is ours and always shown as it is. */
function sign(text: string, paint: Paint, width = text.length): ShownValue {
  return {
    text,
    width,
    paint,
    alignRight: false,
    elastic: false,
    beginning: text,
    bytes: 0,
    quotes: false,
  };
}

function isElastic(kind: ValueKind): boolean {
  return kind === 'text' || kind === 'json';
}

/** A "char" of an older server may be no character. */
function readableText(source: Buffer, start: number, end: number): string {
  const text = source.toString('utf8', start, end);
  return text.includes('\ufffd') ? `${withoutRawChars(source.subarray(start, end))}` : text;
}

/** In JSON a raw line break can only stand between tokens, where a space says the same. */
function singleLine(text: string, kind: ValueKind): string {
  return kind === 'json' && text.includes('\n') ? text.replace(LINE_BREAK, ' ') : text;
}

/** The largest length up to `most` that does not end within a UTF-8 character. */
function wholeCharacters(source: Buffer, start: number, most: number): number {
  let length = most;
  while (length > 0 && (source[start + length]! & CONTINUATION_BITS) === CONTINUATION) length--;
  return length;
}
