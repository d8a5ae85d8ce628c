// tsvector and tsquery: lexemes with their positions, and the tree of a query in prefix order.
// https://www.postgresql.org/docs/current/datatype-textsearch.html

import type { ByteWriter } from '../../byte-writer.ts';
import { Cursor } from '../../wire/cursor.ts';
import { type BinaryToText, malformed } from './conversion.ts';
import { writeByte, writeInt } from './digits.ts';

const SPACE = 0x20;
const QUOTE = 0x27;
const COMMA = 0x2c;
const COLON = 0x3a;
const STAR = 0x2a;
const BACKSLASH = 0x5c;

/** `'fat':2A,3 'rat'` */
export const tsvectorToText: BinaryToText = (out, source, start, end) => {
  const cursor = new Cursor();
  cursor.reset(source, start, end);
  const count = cursor.i32('lexemes of a tsvector');
  // a lexeme has at least its NUL byte and a count of positions
  if (count < 0 || count * 3 > cursor.remaining) {
    throw malformed('tsvector', `${count} lexemes announced, ${cursor.remaining} bytes left`);
  }
  for (let i = 0; i < count; i++) {
    if (i > 0) writeByte(out, SPACE);
    writeLexeme(out, cursor);
    writePositions(out, cursor);
  }
  expectDrained('tsvector', cursor);
};

/** The letter of a position's weight; the lowest is not shown. */
const WEIGHTS = ['', 'C', 'B', 'A'] as const;

/** The upper two bits of a position are its weight. */
function writePositions(out: ByteWriter, cursor: Cursor): void {
  const count = cursor.u16('positions of a lexeme');
  for (let i = 0; i < count; i++) {
    const position = cursor.u16('position of a lexeme');
    writeByte(out, i === 0 ? COLON : COMMA);
    writeInt(out, position & 0x3fff);
    out.text(WEIGHTS[position >> 14]!);
  }
}

/** Within quotes; quotes and backslashes of its own are doubled. */
function writeLexeme(out: ByteWriter, cursor: Cursor): void {
  const { bytes: source, position: start } = cursor;
  const nul = source.indexOf(0, start);
  if (nul === -1 || nul >= cursor.end) {
    throw cursor.violation('lexeme', 'no NUL byte ends it');
  }
  cursor.skip(nul + 1 - start, 'lexeme');
  out.reserve(2 * (nul - start) + 2);
  const bytes = out.bytes;
  let at = out.length;
  bytes[at++] = QUOTE;
  for (let i = start; i < nul; i++) {
    const byte = source[i]!;
    if (byte === QUOTE || byte === BACKSLASH) bytes[at++] = byte;
    bytes[at++] = byte;
  }
  bytes[at++] = QUOTE;
  out.length = at;
}

function expectDrained(type: string, cursor: Cursor): void {
  if (cursor.remaining === 0) return;
  throw malformed(type, `${cursor.remaining} bytes left over`, cursor.offset);
}

const NOT = 1;
const AND = 2;
const OR = 3;
const PHRASE = 4;

/** How tightly each operator binds. */
const PRIORITY: Readonly<Record<number, number>> = { [OR]: 1, [AND]: 2, [PHRASE]: 3, [NOT]: 4 };

interface Operator {
  readonly operator: number;
  /** Of a phrase: how far apart its lexemes stand. */
  readonly distance: number;
  readonly left: QueryNode | undefined;
  readonly right: QueryNode;
}

/** A lexeme with its weights is kept as its text. */
type QueryNode = string | Operator;

/** `'fat' & !( 'rat' | 'cat':*A )` */
export const tsqueryToText: BinaryToText = (out, source, start, end) => {
  const cursor = new Cursor();
  cursor.reset(source, start, end);
  const root = readQuery(cursor, out);
  expectDrained('tsquery', cursor);
  if (root !== undefined) writeQuery(out, root);
};

type QueryItem = string | { readonly operator: number; readonly distance: number };

function readQuery(cursor: Cursor, out: ByteWriter): QueryNode | undefined {
  const count = cursor.i32('items of a tsquery');
  if (count < 0 || count * 2 > cursor.remaining) {
    throw malformed('tsquery', `${count} items announced, ${cursor.remaining} bytes left`);
  }
  const items: QueryItem[] = [];
  for (let i = 0; i < count; i++) items.push(readItem(cursor, out));
  const stack: QueryNode[] = [];
  // an operator comes before its operands, so its operands are on the stack when read backwards
  for (const item of items.reverse()) stack.push(nodeOf(item, stack));
  if (stack.length > 1) throw malformed('tsquery', `${stack.length} queries in one`);
  return stack[0];
}

const LEXEME_ITEM = 1;
const OPERATOR_ITEM = 2;

function readItem(cursor: Cursor, out: ByteWriter): QueryItem {
  const kind = cursor.u8('kind of a tsquery item');
  if (kind === LEXEME_ITEM) return readQueryLexeme(cursor, out);
  if (kind !== OPERATOR_ITEM) throw malformed('tsquery', `unknown item ${kind}`, cursor.offset);
  const operator = cursor.u8('operator of a tsquery');
  if (PRIORITY[operator] === undefined) {
    throw malformed('tsquery', `unknown operator ${operator}`, cursor.offset);
  }
  return { operator, distance: operator === PHRASE ? cursor.u16('distance of a phrase') : 0 };
}

/** `'cat':*AB`: the text is made where it would stand, and taken back. */
function readQueryLexeme(cursor: Cursor, out: ByteWriter): string {
  const weights = cursor.u8('weights of a lexeme');
  const isPrefix = cursor.u8('prefix flag of a lexeme') !== 0;
  const begin = out.length;
  writeLexeme(out, cursor);
  if (weights !== 0 || isPrefix) writeByte(out, COLON);
  if (isPrefix) writeByte(out, STAR);
  for (const [letter, bit] of [
    ['A', 8] as const,
    ['B', 4] as const,
    ['C', 2] as const,
    ['D', 1] as const,
  ]) {
    if ((weights & bit) !== 0) out.text(letter);
  }
  const text = out.bytes.toString('latin1', begin, out.length);
  out.length = begin;
  return text;
}

function nodeOf(item: QueryItem, stack: QueryNode[]): QueryNode {
  if (typeof item === 'string') return item;
  const right = stack.pop();
  const left = item.operator === NOT ? undefined : stack.pop();
  if (right === undefined || (left === undefined && item.operator !== NOT)) {
    throw malformed('tsquery', 'an operator without operands');
  }
  return { ...item, left, right };
}

/** What is still to be written: text as it is, or a node below an operator. */
type Task =
  | string
  | { readonly node: QueryNode; readonly priority: number; readonly isRightOfPhrase: boolean };

/** A stack of tasks instead of recursion: a query may be as deep as it is long. */
function writeQuery(out: ByteWriter, root: QueryNode): void {
  const tasks: Task[] = [{ node: root, priority: -1, isRightOfPhrase: false }];
  for (let task = tasks.pop(); task !== undefined; task = tasks.pop()) {
    if (typeof task === 'string') writeLatin1(out, task);
    else if (typeof task.node === 'string') writeLatin1(out, task.node);
    else tasks.push(...operatorTasks(task.node, task.priority, task.isRightOfPhrase).reverse());
  }
}

function operatorTasks(node: Operator, outer: number, isRightOfPhrase: boolean): Task[] {
  const priority = PRIORITY[node.operator]!;
  const isPhrase = node.operator === PHRASE;
  const needsParentheses = priority < outer || (isPhrase && isRightOfPhrase);
  const right: Task = { node: node.right, priority, isRightOfPhrase: isPhrase };
  const inner: Task[] =
    node.left === undefined
      ? ['!', { ...right, isRightOfPhrase: false }]
      : [{ node: node.left, priority, isRightOfPhrase: false }, operatorText(node), right];
  return needsParentheses ? ['( ', ...inner, ' )'] : inner;
}

function operatorText({ operator, distance }: Operator): string {
  if (operator === OR) return ' | ';
  if (operator === AND) return ' & ';
  return distance === 1 ? ' <-> ' : ` <${distance}> `;
}

/** Lexemes were read byte by byte into their string. */
function writeLatin1(out: ByteWriter, text: string): void {
  out.reserve(text.length);
  out.length += out.bytes.write(text, out.length, 'latin1');
}
