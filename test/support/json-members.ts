// Takes a JSON object apart without reading its values: what is compared is their text.

/** The members of a JSON object with the text of each value as it stands: no number is rounded. */
export function members(json: string): Map<string, string> {
  const found = new Map<string, string>();
  let depth = 0;
  let start = 1;
  let name: string | undefined;
  for (const { 0: token, index } of json.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]/gs)) {
    if (token === '{' || token === '[') depth++;
    if (token === ':' && depth === 1) {
      name = json.slice(start, index).trim();
      start = index + 1;
    }
    const ends = depth === 1 && (token === ',' || token === '}');
    if (ends && name !== undefined) found.set(name, json.slice(start, index));
    if (ends) start = index + 1;
    if (token === '}' || token === ']') depth--;
  }
  return found;
}
