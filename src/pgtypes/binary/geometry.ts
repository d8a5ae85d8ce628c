// point, lseg, box, path, polygon, line and circle: float8 numbers within brackets.
// https://www.postgresql.org/docs/current/datatype-geometric.html

import type { ByteWriter } from '../../byte-writer.ts';
import { type BinaryToText, expectLength, malformed } from './conversion.ts';
import { writeByte } from './digits.ts';
import { writeFloat8 } from './float.ts';
import { int32At } from './words.ts';

const FLOAT8 = 8;
const POINT = 2 * FLOAT8;
const COUNT = 4;
const COMMA = 0x2c;

/** `(x,y)` */
export const pointToText: BinaryToText = (out, source, start, end) => {
  expectLength('point', start, end, POINT);
  writePoints(out, source, start, 1);
};

/** `[(x,y),(x,y)]` */
export const lsegToText: BinaryToText = (out, source, start, end) => {
  expectLength('lseg', start, end, 2 * POINT);
  out.text('[');
  writePoints(out, source, start, 2);
  out.text(']');
};

/** `(x,y),(x,y)`: the upper right corner first. */
export const boxToText: BinaryToText = (out, source, start, end) => {
  expectLength('box', start, end, 2 * POINT);
  writePoints(out, source, start, 2);
};

/** `((x,y),…)` if it is closed, else `[(x,y),…]` */
export const pathToText: BinaryToText = (out, source, start, end) => {
  const count = pointCount('path', source, start + 1, end);
  const closed = source[start]!;
  if (closed > 1) throw malformed('path', `0 or 1 expected, got ${closed}`);
  out.text(closed === 1 ? '(' : '[');
  writePoints(out, source, start + 1 + COUNT, count);
  out.text(closed === 1 ? ')' : ']');
};

/** `((x,y),…)` */
export const polygonToText: BinaryToText = (out, source, start, end) => {
  const count = pointCount('polygon', source, start, end);
  out.text('(');
  writePoints(out, source, start + COUNT, count);
  out.text(')');
};

/** `{A,B,C}` */
export const lineToText: BinaryToText = (out, source, start, end) => {
  expectLength('line', start, end, 3 * FLOAT8);
  out.text('{');
  writeFloats(out, source, start, 3);
  out.text('}');
};

/** `<(x,y),r>` */
export const circleToText: BinaryToText = (out, source, start, end) => {
  expectLength('circle', start, end, POINT + FLOAT8);
  out.text('<');
  writePoints(out, source, start, 1);
  writeByte(out, COMMA);
  writeFloats(out, source, start + POINT, 1);
  out.text('>');
};

function pointCount(type: string, source: Buffer, start: number, end: number): number {
  const held = end - start - COUNT;
  if (held < 0) throw malformed(type, `the number of points needs ${-held} bytes more`);
  const count = int32At(source, start);
  if (count <= 0 || count * POINT !== held) {
    throw malformed(type, `${count} points announced, got ${held} bytes`);
  }
  return count;
}

function writePoints(out: ByteWriter, source: Buffer, start: number, count: number): void {
  for (let i = 0; i < count; i++) {
    out.text(i === 0 ? '(' : ',(');
    writeFloats(out, source, start + i * POINT, 2);
    out.text(')');
  }
}

function writeFloats(out: ByteWriter, source: Buffer, start: number, count: number): void {
  for (let i = 0; i < count; i++) {
    if (i > 0) writeByte(out, COMMA);
    writeFloat8(out, source.readDoubleBE(start + i * FLOAT8));
  }
}
