// Values of a type as SQL writes them, and every place where a value of it may stand in a row.

import { escapeLiteral } from 'pg';

export interface ValueCase {
  /** As a column's type is written. */
  readonly type: string;
  /** SQL expressions. */
  readonly values: readonly string[];
  /** What must be there first. */
  readonly setup?: string;
  /** The first major version that has them. */
  readonly since?: number;
}

/** The columns of a case's table: the same value in every place. */
export const PLACES = ['plain', 'in_array', 'in_domain', 'in_composite', 'in_composites'] as const;
export type Place = (typeof PLACES)[number];

/** Literals of these texts. */
export const texts = (...values: readonly string[]): string[] => values.map(escapeLiteral);

/** An array of arrays of this type is an array of more dimensions, not of more types. */
const isArray = ({ type }: ValueCase): boolean => type.endsWith(']');

/** The table of a case, its types, and one insert a value. */
export function caseSql(name: string, valueCase: ValueCase): string {
  const { type, setup = '' } = valueCase;
  const array = isArray(valueCase) ? type : `${type}[]`;
  return `${setup};
    CREATE TYPE ${name}_composite AS (note text, "the ""value""" ${type}, many ${array}, last int);
    CREATE DOMAIN ${name}_domain AS ${type};
    CREATE TABLE ${name} (plain ${type}, in_array ${array}, in_domain ${name}_domain,
      in_composite ${name}_composite, in_composites ${name}_composite[]);
    ${inserts(name, valueCase).join(';\n')}`;
}

function inserts(name: string, valueCase: ValueCase): string[] {
  const { values } = valueCase;
  const composites = values.map((value) => compositeOf(name, valueCase, value));
  const rows = values.map((value, i) => [
    `(${value})`,
    arrayOf(valueCase, [value, 'NULL']),
    `CAST((${value}) AS ${name}_domain)`,
    composites[i]!,
    `ARRAY[${composites[i]}, NULL]`,
  ]);
  const all = arrayOf(valueCase, values);
  const twice = isArray(valueCase) ? 'NULL' : `ARRAY[${all}, ${all}]`;
  return [
    ...rows,
    ['NULL', all, 'NULL', `ROW(NULL, NULL, NULL, NULL)::${name}_composite`, array(composites)],
    ['NULL', twice, 'NULL', 'NULL', `ARRAY[${array(composites)}, ${array(composites)}]`],
  ].map((row) => `INSERT INTO ${name} VALUES (${row.join(', ')})`);
}

const array = (items: readonly string[]): string => `ARRAY[${items.join(', ')}]`;

/** Arrays themselves may differ in their dimensions: no array holds them. */
function arrayOf(valueCase: ValueCase, values: readonly string[]): string {
  if (isArray(valueCase)) return 'NULL';
  return `${array(values.map((value) => `(${value})`))}::${valueCase.type}[]`;
}

function compositeOf(name: string, valueCase: ValueCase, value: string): string {
  const many = arrayOf(valueCase, [value, 'NULL']);
  return `ROW('', (${value}), ${many}, 1)::${name}_composite`;
}
