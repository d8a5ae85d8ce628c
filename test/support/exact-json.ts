// Reads JSON without losing digits: a number becomes its own text, marked so that it is no string.

export type Exact = null | boolean | string | readonly Exact[] | { readonly [key: string]: Exact };
export type ExactRow = Readonly<Record<string, Exact>>;

const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/** `12.50` → `'# 12.50'`, apart from `12.5` and from `"12.50"`. */
export function exactJson(text: string): Exact {
  const marked = text.replace(STRING_OR_NUMBER, (token) =>
    token.startsWith('"') ? token : `"# ${token}"`,
  );
  return JSON.parse(marked) as Exact;
}

/** The same text for equal values, whatever the order of their keys. */
export function canonical(value: Exact): string {
  return JSON.stringify(value, (_key, part: Exact) =>
    part !== null && typeof part === 'object' && !Array.isArray(part) ? sorted(part) : part,
  );
}

function sorted(part: Exact): Exact {
  return Object.fromEntries(Object.entries(part as ExactRow).sort(([a], [b]) => (a < b ? -1 : 1)));
}
