// The replica identities as a table, what needs attention below it, and on request all of each table.

import type { Finding } from '../findings/finding.ts';
import { allFindingLines, SEVERITY_SIGNS, severityPaint } from '../findings/pretty.ts';
import { formatCounted } from '../format/quantities.ts';
import { qualifiedSqlName, sqlName } from '../pgoutput/sql-name.ts';
import { safeText } from '../terminal/safe-text.ts';
import { type TableCell, type TableColumn, tableLines } from '../terminal/table.ts';
import type { Theme } from '../terminal/theme.ts';
import { wrapText } from '../terminal/wrap.ts';
import type { ChangeOperation } from './failure.ts';
import { priceText } from './full-price.ts';
import { notesOf, whyNoIdentity } from './notes.ts';
import { columnNames, type Published } from './publication.ts';
import type { IdentityReport } from './report.ts';
import { identityClause } from './statements.ts';
import type { Column } from './table.ts';
import type { TableIdentity } from './table-identity.ts';
import { isSent, toastableColumns, unsentColumns, unsentGenerated } from './visible-row.ts';

export interface IdentityLayout {
  readonly theme: Theme;
  readonly columns: number;
  /** Tell everything of each table, and what is only good to know. */
  readonly details: boolean;
}

export function identityLines(report: IdentityReport, layout: IdentityLayout): string[] {
  const { tables, findings } = report;
  const lines = wrapText(summary(report), layout.columns);
  if (tables.length === 0) return lines;
  lines.push('', ...overview(report, layout));
  const shown = findings.filter((finding) => isWorthTelling(finding, layout));
  if (shown.length > 0) lines.push('', ...allFindingLines(shown, layout));
  if (layout.details) {
    for (const found of tables) lines.push('', ...details(found, layout));
  }
  const hidden = layout.details ? 0 : findings.length - shown.length;
  const last = endings(report, hidden);
  for (const text of last) lines.push('', ...wrapText(text, layout.columns));
  return lines;
}

/** What the details of a table say anyway, with the same fix. */
const TOLD_IN_DETAILS = ['old-values-not-sent', 'toasted-values-not-sent'];

function isWorthTelling({ id, severity }: Finding, { details }: IdentityLayout): boolean {
  return severity !== 'info' || (details && !TOLD_IN_DETAILS.includes(id));
}

function summary({ server, scope, tables }: IdentityReport): string {
  const { publications } = scope;
  const kind = server.inRecovery ? ', a standby' : '';
  const where =
    publications.length === 0 ? '' : ` published by ${publications.map(sqlName).join(', ')}`;
  const database = `database ${sqlName(server.database)}`;
  const count = tables.length === 0 ? 'no table' : formatCounted(tables.length, 'table');
  return `PostgreSQL ${server.version}${kind}, ${database}: ${count}${where}`;
}

function endings(report: IdentityReport, hidden: number): readonly string[] {
  const { server, tables, unreadable } = report;
  const role = `role ${JSON.stringify(server.role)}`;
  const notMeasured = tables.flatMap(({ table, price: { notMeasured: reason } }) =>
    reason === undefined ? [] : [`${qualifiedSqlName(table)} (${reason})`],
  );
  return [
    ...(hidden > 0 ? [`${formatCounted(hidden, 'note')} more: -v, or name tables`] : []),
    ...(notMeasured.length > 0 ? [`not measured: ${notMeasured.join(', ')}`] : []),
    ...(unreadable.length > 0
      ? [`${role} may not read the statistics of some columns: GRANT SELECT on them lets it`]
      : []),
  ];
}

interface IdentityColumn extends TableColumn {
  readonly cell: (found: TableIdentity, report: IdentityReport, theme: Theme) => TableCell;
  /** Left out where no table has anything in it. */
  readonly optional?: boolean;
}

const COLUMNS: readonly IdentityColumn[] = [
  { header: '', cell: sign, optional: true },
  { header: 'table', cell: ({ table }) => qualifiedSqlName(table) },
  { header: 'identity', cell: identityCell },
  { header: 'update', cell: (found, _, theme) => seen(found, 'update', theme) },
  { header: 'delete', cell: (found, _, theme) => seen(found, 'delete', theme) },
  {
    header: 'may be unchanged',
    cell: ({ table, effective, publishedBy }) => list(unsentColumns(table, effective, publishedBy)),
    optional: true,
  },
  { header: 'published by', cell: ({ publishedBy }) => publishers(publishedBy), optional: true },
];

function overview(report: IdentityReport, { theme, columns: width }: IdentityLayout): string[] {
  const rows = report.tables.map((found) => COLUMNS.map(({ cell }) => cell(found, report, theme)));
  const isShown = COLUMNS.map(
    ({ optional }, i) => !optional || rows.some((cells) => cells[i] !== ''),
  );
  return tableLines(
    COLUMNS.filter((_, i) => isShown[i]),
    rows.map((cells) => cells.filter((_, i) => isShown[i])),
    { width, header: theme.dim },
  );
}

function sign(found: TableIdentity, _: IdentityReport, theme: Theme): TableCell {
  // what is told of several partitions at once is true of each
  const severities = notesOf(found).map(({ severity }) => severity);
  const worst = (['error', 'warning'] as const).find((each) => severities.includes(each));
  if (worst === undefined) return '';
  return { text: SEVERITY_SIGNS[worst], paint: severityPaint(worst, theme) };
}

function identityCell({ effective, table }: TableIdentity, _: IdentityReport, theme: Theme) {
  switch (effective.kind) {
    case 'full':
      return 'FULL';
    case 'key':
      return `${identityClause(effective)} (${list(effective.columns)})`;
    case 'none': {
      const text =
        table.identity === 'nothing' ? 'NOTHING' : `${table.identity.toUpperCase()}: none`;
      return { text, paint: table.partitioned ? theme.dim : theme.warning };
    }
  }
}

const fails = ({ failures }: TableIdentity, operation: ChangeOperation): boolean =>
  failures.some(({ operations }) => operations.includes(operation));

function seen(found: TableIdentity, operation: ChangeOperation, theme: Theme): TableCell {
  if (fails(found, operation)) return { text: 'fails', paint: theme.error };
  const { visible } = found;
  const parts = visible[operation].filter((part) => part !== 'unchanged' && part !== 'changed');
  return parts.length === 0 ? '–' : parts.join(', ');
}

const list = (columns: readonly Column[]): string =>
  columns.map(({ name }) => sqlName(name)).join(', ');

const publishers = (publishedBy: readonly Published[]): string =>
  publishedBy.map(({ publication }) => sqlName(publication.name)).join(', ');

/** All that is known of one table, a label and a text a line. */
function details(found: TableIdentity, { theme, columns }: IdentityLayout): string[] {
  const entries = detailTexts(found).filter(([, text]) => text !== '');
  const width = Math.max(...entries.map(([label]) => label.length), TO_SEE_MORE.length);
  const statement = notesOf(found).find(({ id }) => id === 'old-values-not-sent')?.fix[0];
  return [
    theme.strong(safeText(qualifiedSqlName(found.table))),
    ...entries.flatMap(([label, text]) => labelled(label.padEnd(width), text, { theme, columns })),
    // never broken by us: what a terminal wraps is still copied as one line
    ...(statement === undefined
      ? []
      : [`  ${theme.dim(TO_SEE_MORE.padEnd(width))}  ${theme.good(safeText(statement))}`]),
  ];
}

const TO_SEE_MORE = 'to see more';

function labelled(
  label: string,
  text: string,
  { theme, columns }: { readonly theme: Theme; readonly columns: number },
): string[] {
  const indent = label.length + 4;
  return wrapText(text, columns - indent).map((line, i) =>
    i === 0 ? `  ${theme.dim(label)}  ${line}` : ' '.repeat(indent) + line,
  );
}

function detailTexts(found: TableIdentity): readonly (readonly [string, string])[] {
  const { table, root, effective, publishedBy, price } = found;
  const inKey = effective.kind === 'key' ? effective.columns : [];
  const toastedKey = toastableColumns(table).filter((column) => inKey.includes(column));
  return [
    ['identity', identityText(found)],
    ['partition of', root === undefined ? '' : qualifiedSqlName(root)],
    ['partitioned', table.partitioned ? 'the identity of each partition counts, not this one' : ''],
    ['unlogged', table.unlogged ? 'never sent, whatever is published' : ''],
    ['update', seenText(found, 'update')],
    ['delete', seenText(found, 'delete')],
    ['may be unchanged', list(unsentColumns(table, effective, publishedBy))],
    ['in the key', toastedKey.length === 0 ? '' : `${list(toastedKey)}: sent, however large`],
    ...publishedBy.map((published) => ['published by', publishedText(found, published)] as const),
    ['published by', publishedBy.length === 0 ? 'no publication' : ''],
    ['costs', effective.kind === 'full' && !table.partitioned ? priceText(price) : ''],
    // of a table that works as it is, what it would see more says it
    ['FULL costs', isMeasuredFailing(found) ? priceText(price) : ''],
  ];
}

const isMeasuredFailing = ({ effective, failures, price }: TableIdentity): boolean =>
  effective.kind !== 'full' && failures.length > 0 && price.measured !== undefined;

function seenText(found: TableIdentity, operation: ChangeOperation): string {
  if (fails(found, operation)) return 'fails in the application';
  if (found.table.unlogged) return 'not sent';
  if (!isSent(operation, found.publishedBy)) return 'not published';
  const parts = found.visible[operation];
  return parts.length === 0 ? 'nothing that says which row it was' : parts.join(', ');
}

function identityText({ table, effective }: TableIdentity): string {
  if (effective.kind === 'none') return whyNoIdentity(table).replace(/^has /, '');
  if (effective.kind === 'full') return 'FULL: the whole old row';
  const { index, columns } = effective;
  const what = index.primary ? `primary key ${sqlName(index.name)}` : 'a usable unique index';
  return `${identityClause(effective)}: ${what} (${list(columns)})`;
}

function publishedText({ table }: TableIdentity, published: Published): string {
  const { publication, as, member } = published;
  const generated = unsentGenerated(table, published);
  return [
    `${sqlName(publication.name)} (${publication.operations.join(', ')})`,
    ...(as.id === table.id ? [] : [`as ${qualifiedSqlName(as)}`]),
    ...(member?.columns === undefined
      ? []
      : [`only ${columnNames(published, member.columns).map(sqlName).join(', ')}`]),
    ...(member?.filter === undefined ? [] : [`rows where ${member.filter}`]),
    ...(generated.length === 0 ? [] : [`without the generated ${list(generated)}`]),
  ].join(', ');
}
