// Random types: built-in ones, and those that users make of them and of each other.

import { escapeIdentifier, escapeLiteral } from 'pg';
import { anyText, sqlName, TYPE_VALUES } from '../pgtypes/binary/type-values.ts';
import type { Dice } from './dice.ts';

export interface RandomType {
  /** As SQL writes it. */
  readonly name: string;
  /** The statements that make it; none for a built-in one. */
  readonly create?: string;
  /** Whether a key or a range may be made of it. */
  readonly sortable: boolean;
  /** Between the elements of an array of it. */
  readonly delimiter: string;
  /** A value, as text for the type's input function. */
  value(dice: Dice): string;
  /** A value too large to stay in a row, where the type can have one. */
  readonly large: ((dice: Dice) => string) | undefined;
}

const SORTABLE: ReadonlySet<string> = new Set([
  ...['int2', 'int4', 'int8', 'oid', 'float8', 'numeric', 'text', 'varchar', 'bpchar', 'name'],
  ...['char', 'bytea', 'uuid', 'date', 'time', 'timetz', 'timestamp', 'timestamptz', 'interval'],
  ...['inet', 'macaddr', 'bit', 'varbit', 'pg_lsn', 'bool', 'jsonb'],
]);

/** Its digits would take most of the time. */
const TOO_LONG = '1e131071';
const SAMPLES = 40;
const MOST_LABEL_BYTES = 63;

const noise = (dice: Dice): string => dice.noise(dice.between(2_200, 9_000));

const LARGE: Readonly<Record<string, (dice: Dice) => string>> = {
  text: noise,
  varchar: noise,
  bpchar: noise,
  bytea: (dice) => `\\x${noise(dice)}`,
  json: (dice) => `{"large":\n"${noise(dice)}"}`,
  jsonb: (dice) => `["${noise(dice)}", 1.50]`,
};

/** Every built-in type with random values. */
export function builtinTypes(dice: Dice): RandomType[] {
  return Object.entries(TYPE_VALUES).map(([type, { edges, random }]) => {
    const values = [...edges, ...dice.samples(random, SAMPLES)].filter((text) => text !== TOO_LONG);
    return {
      name: sqlName(type),
      sortable: SORTABLE.has(type),
      delimiter: type === 'box' ? ';' : ',',
      value: (dice) => dice.pick(values),
      large: LARGE[type],
    };
  });
}

/** Types of each kind in turn, each of built-in ones and of those made before it. */
export function userTypes(dice: Dice, builtin: readonly RandomType[], count: number): RandomType[] {
  const made: RandomType[] = [];
  for (let i = 0; i < count; i++) {
    const some = () => dice.pick(made.length > 0 && dice.oneIn(2) ? made : builtin);
    const name = escapeIdentifier(`${dice.pick(['t', 'T "', '_t ', 'é,('])}${i}`);
    made.push(...dice.pick(KINDS)(dice, name, some));
  }
  return made;
}

/** Makes one or two types of others. */
type Kind = (dice: Dice, name: string, some: () => RandomType) => RandomType[];

const KINDS: readonly Kind[] = [
  enumType,
  domainType,
  compositeType,
  compositeType,
  rangeTypes,
  (_dice, _name, some) => [arrayType(some())],
];

function enumType(dice: Dice, name: string): RandomType[] {
  const labels = new Set(['NULL', ...dice.samples(anyText, dice.between(1, 6))]);
  const short = [...labels].filter((label) => Buffer.byteLength(label) <= MOST_LABEL_BYTES);
  return [
    {
      name,
      create: `CREATE TYPE ${name} AS ENUM (${short.map(escapeLiteral).join(', ')})`,
      sortable: true,
      delimiter: ',',
      value: (dice) => dice.pick(short),
      large: undefined,
    },
  ];
}

function domainType(_dice: Dice, name: string, some: () => RandomType): RandomType[] {
  const base = some();
  return [{ ...base, name, create: `CREATE DOMAIN ${name} AS ${base.name}` }];
}

/** An array of arrays has the type of the array. */
export function arrayType(element: RandomType): RandomType {
  if (element.name.endsWith(']')) return element;
  const { name, delimiter, large } = element;
  return {
    name: `${name}[]`,
    sortable: false,
    delimiter,
    value: (dice) => anyArray(dice, element),
    large: large && ((dice) => arrayText([large(dice), null], delimiter)),
  };
}

function anyArray(dice: Dice, { value, delimiter }: RandomType): string {
  const items = dice.times(dice.below(4), () => (dice.oneIn(5) ? null : value(dice)));
  const row = arrayText(items, delimiter);
  if (items.length === 0 || !dice.oneIn(4)) return row;
  // other bounds, or one more dimension
  return dice.oneIn(2) ? `[0:${items.length - 1}]=${row}` : `{${row}${delimiter}${row}}`;
}

function arrayText(items: readonly (string | null)[], delimiter: string): string {
  const texts = items.map((item) =>
    item === null ? 'NULL' : `"${item.replaceAll(/["\\]/g, '\\$&')}"`,
  );
  return `{${texts.join(delimiter)}}`;
}

const ATTRIBUTE_NAMES = ['a', '"b"', 'ä ö', 'line\nbreak', '__proto__', '1', 'back\\slash', '{:,}'];

function compositeType(dice: Dice, name: string, some: () => RandomType): RandomType[] {
  const names = dice.some(ATTRIBUTE_NAMES, dice.between(0, 5)).map(escapeIdentifier);
  const attributes = names.map((attribute) => ({ attribute, type: some() }));
  const lists = attributes.map(({ attribute, type }) => `${attribute} ${type.name}`);
  const dropped = dice.oneIn(3) ? dice.below(lists.length + 1) : undefined;
  if (dropped !== undefined) lists.splice(dropped, 0, 'dropped text');
  const alter = dropped === undefined ? '' : `; ALTER TYPE ${name} DROP ATTRIBUTE dropped`;
  const types = attributes.map(({ type }) => type);
  const largest = types.findIndex(({ large }) => large !== undefined);
  return [
    {
      name,
      create: `CREATE TYPE ${name} AS (${lists.join(', ')})${alter}`,
      sortable: false,
      delimiter: ',',
      value: (dice) => compositeText(types.map((type) => maybeNull(dice, type))),
      large:
        largest === -1
          ? undefined
          : (dice) =>
              compositeText(
                types.map((type, i) => (i === largest ? type.large!(dice) : maybeNull(dice, type))),
              ),
    },
  ];
}

const maybeNull = (dice: Dice, type: RandomType): string | null =>
  dice.oneIn(5) ? null : type.value(dice);

const doubled = (text: string): string => `"${text.replaceAll(/["\\]/g, '$&$&')}"`;

const compositeText = (fields: readonly (string | null)[]): string =>
  `(${fields.map((field) => (field === null ? '' : doubled(field))).join(',')})`;

/** A range and its multirange. */
function rangeTypes(_dice: Dice, name: string, some: () => RandomType): RandomType[] {
  let subtype = some();
  while (!subtype.sortable) subtype = some();
  const multirange = escapeIdentifier(`multi ${name}`);
  const value = (dice: Dice) => rangeText(dice, doubled(subtype.value(dice)));
  const type = { sortable: false, delimiter: ',', large: undefined };
  const create = `CREATE TYPE ${name} AS RANGE
    (subtype = ${subtype.name}, multirange_type_name = ${multirange})`;
  return [
    { ...type, name, create, value },
    {
      ...type,
      name: multirange,
      value: (dice) => `{${dice.times(dice.below(2), () => value(dice)).join(',')}}`,
    },
  ];
}

/** Of one bound, as nobody but the server knows which of two is the lower. */
function rangeText(dice: Dice, bound: string): string {
  return dice.pick(['empty', '(,)', `[${bound},${bound}]`, `[${bound},)`, `(,${bound}]`]);
}

/** Of the extension, which must be there. */
export const HSTORE: RandomType = {
  name: 'hstore',
  sortable: false,
  delimiter: ',',
  value: (dice) => hstoreText(dice, dice.samples(anyText, 2 * dice.below(4))),
  large: (dice) => hstoreText(dice, ['large', noise(dice)]),
};

function hstoreText(dice: Dice, texts: readonly string[]): string {
  const escaped = texts.map((text) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`);
  const pairs = dice.times(escaped.length / 2, (i) => {
    const value = dice.oneIn(4) ? 'NULL' : escaped[2 * i + 1];
    return `${escaped[2 * i]}=>${value}`;
  });
  return pairs.join(', ');
}
