// Arrays of any dimension as array_out prints them, and the two vector types.
// https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO

import type { ByteWriter } from '../../byte-writer.ts';
import type { Cursor } from '../../wire/cursor.ts';
import { type BinaryToText, malformed } from './conversion.ts';
import { writeByte, writeInt } from './digits.ts';
import { container, type Nesting, writeNested } from './nesting.ts';
import { arrayQuoting, type QuotingRules, quoteSince } from './quoting.ts';

const MOST_DIMENSIONS = 6;
const SHORTEST_ELEMENT = 4;

const OPEN = 0x7b; // {
const CLOSE = 0x7d; // }
const SPACE = 0x20;

/** How the elements of the type that stands on the wire are written. */
export interface ElementFormat {
  readonly toText: BinaryToText;
  /** pg_type.typdelim of the element: a comma for all built-in types but box. */
  readonly delimiter: string;
}

/** `elementFormat` is asked once a value; it throws for a type it cannot convert. */
export function arrayToText(
  nesting: Nesting,
  elementFormat: (elementId: number, offset: number) => ElementFormat,
): BinaryToText {
  const rulesFor = quotingByDelimiter();
  return container('array', nesting, (out, cursor) => {
    const { elementId, dimensions } = readHeader(cursor);
    if (dimensions.some(({ length }) => length === 0) || dimensions.length === 0) {
      return out.text('{}');
    }
    const { toText, delimiter } = elementFormat(elementId, cursor.offset);
    if (dimensions.some(({ lowerBound }) => lowerBound !== 1)) writeBounds(out, dimensions);
    const writer = { toText, rules: rulesFor(delimiter), delimiter: delimiter.charCodeAt(0) };
    writeDimension(out, cursor, dimensions, 0, writer);
  });
}

function quotingByDelimiter(): (delimiter: string) => QuotingRules {
  const known = new Map<string, QuotingRules>();
  return (delimiter) => {
    const rules = known.get(delimiter) ?? arrayQuoting(delimiter);
    known.set(delimiter, rules);
    return rules;
  };
}

interface Dimension {
  readonly length: number;
  readonly lowerBound: number;
}

interface ArrayHeader {
  readonly elementId: number;
  readonly dimensions: readonly Dimension[];
}

function readHeader(cursor: Cursor): ArrayHeader {
  const count = cursor.u32('dimensions of an array');
  if (count > MOST_DIMENSIONS) throw malformed('array', `${count} dimensions`);
  const flags = cursor.u32('flags of an array');
  if (flags > 1) throw malformed('array', `unknown flags ${flags}`, 4);
  const elementId = cursor.u32('element type of an array');
  const dimensions: Dimension[] = [];
  for (let i = 0; i < count; i++) {
    const length = cursor.i32('length of a dimension');
    const lowerBound = cursor.i32('lower bound of a dimension');
    dimensions.push({ length, lowerBound });
  }
  expectElements(cursor, dimensions);
  return { elementId, dimensions };
}

function expectElements(cursor: Cursor, dimensions: readonly Dimension[]): void {
  const lengths = dimensions.map(({ length }) => length);
  const elements = lengths.reduce((product, length) => product * length, 1);
  const fits = lengths.length === 0 || elements * SHORTEST_ELEMENT <= cursor.remaining;
  if (fits && lengths.every((length) => length >= 0)) return;
  const announced = lengths.join(' × ');
  const problem = `${announced} elements announced, ${cursor.remaining} bytes left`;
  throw malformed('array', problem, cursor.offset);
}

/** `[0:1][3:4]=`: written for all dimensions if one does not start at 1. */
function writeBounds(out: ByteWriter, dimensions: readonly Dimension[]): void {
  for (const { length, lowerBound } of dimensions) {
    out.text('[');
    writeInt(out, lowerBound);
    out.text(':');
    writeInt(out, lowerBound + length - 1);
    out.text(']');
  }
  out.text('=');
}

interface ElementWriter {
  readonly toText: BinaryToText;
  readonly rules: QuotingRules;
  readonly delimiter: number;
}

function writeDimension(
  out: ByteWriter,
  cursor: Cursor,
  dimensions: readonly Dimension[],
  index: number,
  writer: ElementWriter,
): void {
  const { length } = dimensions[index]!;
  const isInnermost = index === dimensions.length - 1;
  writeByte(out, OPEN);
  for (let i = 0; i < length; i++) {
    if (i > 0) writeByte(out, writer.delimiter);
    if (isInnermost) writeElement(out, cursor, writer);
    else writeDimension(out, cursor, dimensions, index + 1, writer);
  }
  writeByte(out, CLOSE);
}

function writeElement(out: ByteWriter, cursor: Cursor, { toText, rules }: ElementWriter): void {
  const from = out.length;
  if (writeNested(out, cursor, toText)) quoteSince(out, from, rules);
  else out.text('NULL');
}

/** int2vector and oidvector travel as arrays, but are shown with spaces and without braces. */
export function vectorToText(nesting: Nesting, elementId: number, toText: BinaryToText) {
  return container('vector', nesting, (out, cursor) => {
    const { elementId: sent, dimensions } = readHeader(cursor);
    if (sent !== elementId) throw malformed('vector', `elements of type ${sent}`, 8);
    if (dimensions.length > 1) throw malformed('vector', `${dimensions.length} dimensions`);
    const length = dimensions[0]?.length ?? 0;
    for (let i = 0; i < length; i++) {
      if (i > 0) writeByte(out, SPACE);
      if (writeNested(out, cursor, toText)) continue;
      throw malformed('vector', 'an element is NULL', cursor.offset);
    }
  });
}
