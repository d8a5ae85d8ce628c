// Rows of text in columns: the first column to the left, figures to the right.

/** The first row is the heading. Lines end with a line feed and have no trailing blanks. */
export function textTable(rows: readonly (readonly string[])[]): string {
  const columns = rows[0]?.length ?? 0;
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows.map((row) => `${line(row, widths)}\n`).join('');
}

function line(row: readonly string[], widths: readonly number[]): string {
  const [first = '', ...rest] = row;
  const figures = rest.map((cell, i) => cell.padStart(widths[i + 1] ?? 0));
  return [first.padEnd(widths[0] ?? 0), ...figures].join('  ').trimEnd();
}
