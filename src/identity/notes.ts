// What there is to say of one table: as findings whose subject is still apart, so that partitions
// which share a problem can be told as one.

import type { Finding } from '../findings/finding.ts';
import { qualifiedSqlName, sqlName } from '../pgoutput/sql-name.ts';
import { betterIdentity, keys, obstacles, suits } from './cure.ts';
import {
  type EffectiveIdentity,
  effectiveIdentity,
  FULL,
  indexProblems,
  namedIndex,
} from './effective-identity.ts';
import { type ChangeOperation, changesOf, type Failure, type FailureReason } from './failure.ts';
import { priceText } from './full-price.ts';
import type { Published } from './publication.ts';
import { type ReadingProblem, readingProblem } from './read-together.ts';
import { identityClause, publishGenerated, sentence, setIdentity } from './statements.ts';
import type { Column, Table } from './table.ts';
import type { TableIdentity } from './table-identity.ts';
import { unsentColumns, unsentGenerated } from './visible-row.ts';

/** A finding about a table; `fact` goes on after the table's name. */
export type Note = Omit<Finding, 'subject'>;

export function notesOf(found: TableIdentity): readonly Note[] {
  const failures = failureNotes(found);
  const isHandled = failures.length > 0;
  return [
    ...failures,
    readApart(found),
    isHandled ? undefined : wouldFail(found),
    isHandled ? undefined : partitionDiffers(found),
    keyNotSent(found),
    oldValuesNotSent(found),
    unchangedNotSent(found),
    generatedNotSent(found),
  ].filter((note) => note !== undefined);
}

const list = (columns: readonly (Column | string)[]): string =>
  columns.map((column) => sqlName(typeof column === 'string' ? column : column.name)).join(', ');

const publicationNames = (published: readonly Published[]): string => {
  const names = [...new Set(published.map(({ publication }) => sqlName(publication.name)))];
  return `${names.length === 1 ? 'publication' : 'publications'} ${names.join(', ')}`;
};

const FAILURE_IDS: Readonly<Record<FailureReason, string>> = {
  'no-identity': 'identity-missing',
  'row-filter': 'row-filter-outside-identity',
  'column-list': 'column-list-lacks-identity',
  'generated-column': 'identity-has-unpublished-generated-column',
};

/** One a reason, with all the publications that it is true of. */
function failureNotes({ table, failures, cure }: TableIdentity): readonly Note[] {
  const reasons = [...new Set(failures.map(({ reason }) => reason))];
  return reasons.map((reason, i) => {
    const alike = failures.filter((failure) => failure.reason === reason);
    return {
      id: FAILURE_IDS[reason],
      severity: 'error',
      fact: failureFact(reason, alike, table),
      consequence: `${statements(alike)} in the application: ${SERVER_WORDS[reason]}`,
      fix: i === 0 ? cure : cureAgain(cure, FAILURE_IDS[reasons[0]!]),
    };
  });
}

/** Statements may run twice; a sentence is not said twice. */
function cureAgain(cure: readonly string[], first: string): readonly string[] {
  return cure.some((line) => line.startsWith('--'))
    ? [sentence(`what mends ${first} of this table mends this too`)]
    : cure;
}

/** So that a search for the server's message leads here. */
const SERVER_WORDS: Readonly<Record<FailureReason, string>> = {
  'no-identity': '"… because it does not have a replica identity and publishes …"',
  'row-filter':
    '"Column used in the publication WHERE expression is not part of the replica identity."',
  'column-list': '"Column list used by the publication does not cover the replica identity."',
  'generated-column': '"Replica identity must not contain unpublished generated columns."',
};

function statements(failures: readonly Failure[]): string {
  const operations = new Set(failures.flatMap((failure) => failure.operations));
  if (operations.size === 2) return 'UPDATE and DELETE fail';
  return operations.has('update') ? 'UPDATE fails' : 'DELETE fails';
}

function failureFact(reason: FailureReason, failures: readonly Failure[], table: Table): string {
  const publications = publicationNames(failures.map(({ published }) => published));
  const columns = list([...new Set(failures.flatMap((failure) => failure.columns))]);
  const clause = identityClause(effectiveIdentity(table));
  switch (reason) {
    case 'no-identity':
      return `${whyNoIdentity(table)}, and ${publications} ${publishes(failures)}`;
    case 'row-filter':
      return `is published by ${publications} with a WHERE on ${columns}, outside of its REPLICA IDENTITY ${clause}`;
    case 'column-list':
      return table.identity === 'full'
        ? `has REPLICA IDENTITY FULL, and in ${publications} a column list, which FULL does not allow`
        : `is published by ${publications} with a column list without ${columns} of its REPLICA IDENTITY ${clause}`;
    case 'generated-column':
      return `has the generated column ${columns} in its REPLICA IDENTITY ${clause}, and ${publications} does not send it`;
  }
}

function publishes(failures: readonly Failure[]): string {
  const operations = new Set<ChangeOperation>(failures.flatMap((failure) => failure.operations));
  return `publishes ${[...operations].map((operation) => `${operation}s`).join(' and ')}`;
}

/** As in `has no primary key for REPLICA IDENTITY DEFAULT`. */
export function whyNoIdentity(table: Table): string {
  const index = namedIndex(table);
  if (table.identity === 'nothing') return 'has REPLICA IDENTITY NOTHING';
  if (index !== undefined) {
    const problems = indexProblems(index).join(', ');
    return table.identity === 'default'
      ? `has a primary key that REPLICA IDENTITY cannot use (${sqlName(index.name)}: ${problems})`
      : `has REPLICA IDENTITY USING INDEX ${sqlName(index.name)}, which cannot be used (${problems})`;
  }
  return table.identity === 'default'
    ? 'has no primary key for REPLICA IDENTITY DEFAULT'
    : 'has REPLICA IDENTITY USING INDEX, and that index was dropped';
}

const READING_PROBLEMS: Readonly<
  Record<
    ReadingProblem,
    Pick<Note, 'id' | 'consequence'> & { readonly what: string; readonly same: string }
  >
> = {
  'column-lists': {
    id: 'column-lists-differ',
    what: 'different column lists',
    consequence:
      'read together they end at its first row: "cannot use different column lists for table … in different publications"',
    same: 'send the same columns of it with each',
  },
  'generated-columns': {
    id: 'generated-columns-differ',
    what: 'different values of publish_generated_columns',
    consequence:
      'read together they end at its first row: "cannot use different values of publish_generated_columns for table …"',
    same: 'set publish_generated_columns to the same value in each',
  },
};

/** The application notices nothing: it is the reader that fails. */
function readApart({ table, readTogether }: TableIdentity): Note | undefined {
  // the rows of a partitioned table are those of its partitions
  const problem = table.partitioned ? undefined : readingProblem(table, readTogether);
  if (problem === undefined) return undefined;
  const { id, what, consequence, same } = READING_PROBLEMS[problem];
  return {
    id,
    severity: 'error',
    fact: `is published by ${publicationNames(readTogether)} with ${what}`,
    consequence,
    // a list may hide what nobody else is to see: which one is right is not ours to say
    fix: [sentence(`${same}, or read the publications apart: a slot and a pgtail -P for each`)],
  };
}

/** Nothing fails yet, but would as soon as it is published with its updates. */
function wouldFail({ table, effective, publishedBy, price }: TableIdentity): Note | undefined {
  if (effective.kind !== 'none' || table.partitioned || table.unlogged) return undefined;
  return {
    id: 'identity-missing-unpublished',
    // an index that was named on purpose, and does not serve
    severity: table.identity === 'index' ? 'warning' : 'info',
    fact: `${whyNoIdentity(table)}; no publication sends its updates and deletes`,
    consequence: 'one that does makes UPDATE and DELETE fail in the application',
    // what it is published by now cannot stand against any identity
    fix: betterIdentity({ table, publishedBy, price }) ?? [setIdentity(table, FULL)],
  };
}

const keyText = (identity: EffectiveIdentity): string => {
  if (identity.kind === 'key') return list(identity.columns.toSorted(byName));
  return identity.kind;
};

const byName = (a: Column, b: Column): number => (a.name < b.name ? -1 : 1);

/** ALTER TABLE … REPLICA IDENTITY on a root does nothing to its partitions. */
function partitionDiffers(found: TableIdentity): Note | undefined {
  const { table, root, effective, publishedBy } = found;
  if (root === undefined || table.partitioned) return undefined;
  const wanted = effectiveIdentity(root);
  if (keyText(wanted) === keyText(effective)) return undefined;
  const viaRoot = publishedBy.filter(({ as }) => as.id === root.id);
  const isAskedFor = wanted.kind === 'full' && publishedBy.length > 0;
  const own = `REPLICA IDENTITY ${identityClause(effective)}`;
  const obstacle = wanted.kind === 'none' ? '' : obstacles(onPartition(wanted, table), found);
  const reason = obstacle === '' ? '' : `, which it cannot have: ${obstacle}`;
  return {
    id: 'partition-identity-differs',
    severity: viaRoot.length > 0 || isAskedFor ? 'warning' : 'info',
    fact: `has ${own}, and its root ${qualifiedSqlName(root)} ${identityClause(wanted)}${reason}`,
    consequence:
      viaRoot.length > 0
        ? `${publicationNames(viaRoot)} sends its rows as the root’s: ${viaRootConsequence(wanted, effective)}`
        : 'its rows come under its own name and identity: that of the root counts for none of them',
    fix: obstacle === '' ? alignment(found, root, wanted) : [rootLike(found, root)],
  };
}

/** The same columns as the partition has them; it may lack the index. */
function onPartition(identity: EffectiveIdentity, table: Table): EffectiveIdentity {
  if (identity.kind !== 'key') return identity;
  const names = identity.columns.map(({ name }) => name);
  return { ...identity, columns: table.columns.filter(({ name }) => names.includes(name)) };
}

/** The other way round. No statement on a partitioned table is checked, so this makes none fail. */
function rootLike({ table, effective }: TableIdentity, root: Table): string {
  if (effective.kind === 'full') return setIdentity(root, FULL);
  const same = keys(root).find((key) => keyText(key) === keyText(effective));
  return same === undefined
    ? sentence(`nothing to do: each keeps its own, ${qualifiedSqlName(table)} and its root`)
    : setIdentity(root, same);
}

function viaRootConsequence(root: EffectiveIdentity, leaf: EffectiveIdentity): string {
  if (root.kind === 'full') {
    return 'announced as FULL, but old holds only what the partition keeps ("old_partial":true), and changed is missing';
  }
  return leaf.kind === 'full'
    ? 'key is what the root names, and the rest of the old row that the partition pays for is not shown'
    : 'key may miss columns, or hold them as they are after the change ("key_partial":true)';
}

function alignment(
  found: TableIdentity,
  root: Table,
  wanted: EffectiveIdentity,
): readonly string[] {
  const { table, effective } = found;
  if (wanted.kind === 'full') return [setIdentity(table, FULL)];
  if (wanted.kind === 'none') {
    return [sentence(`give the root ${qualifiedSqlName(root)} the same key`)];
  }
  const same = keys(table).find((key) => keyText(key) === keyText(wanted));
  if (same !== undefined) return [setIdentity(table, same)];
  return effective.kind === 'full'
    ? [rootLike(found, root)]
    : [
        sentence(
          `give ${qualifiedSqlName(table)} a unique index on ${keyText(wanted)}, as its root has`,
        ),
      ];
}

const sendsChanges = (published: Published): boolean => changesOf(published).length > 0;

/** Before 18 nothing is checked, and the key comes without the column. */
function keyNotSent(found: TableIdentity): Note | undefined {
  const { table, effective, publishedBy, failures } = found;
  if (effective.kind !== 'key' || failures.length > 0) return undefined;
  const sending = publishedBy.filter(sendsChanges);
  const generated = effective.columns.filter((column) =>
    sending.some((published) => unsentGenerated(table, published).includes(column)),
  );
  if (generated.length === 0) return undefined;
  return {
    id: 'identity-column-not-sent',
    severity: 'warning',
    fact: `has the generated column ${list(generated)} in its REPLICA IDENTITY ${identityClause(effective)}, which is not published`,
    consequence: `key comes without ${list(generated)}: it does not say which row it was`,
    fix: [otherKey(found, generated)],
  };
}

function otherKey(found: TableIdentity, without: readonly Column[]): string {
  const { table, price } = found;
  const fitting = keys(table).find(
    (key) =>
      key.kind === 'key' &&
      !key.columns.some((column) => without.includes(column)) &&
      suits(key, found),
  );
  if (fitting !== undefined) return setIdentity(table, fitting);
  const obstacle = obstacles(FULL, found);
  return obstacle === ''
    ? `${setIdentity(table, FULL)} -- ${priceText(price)}`
    : sentence(`give it another unique index: it cannot have REPLICA IDENTITY FULL: ${obstacle}`);
}

const FAILING = 'UPDATE and DELETE fail';

function oldValuesNotSent(found: TableIdentity): Note | undefined {
  const { table, effective, publishedBy, price, failures } = found;
  if (effective.kind !== 'key' || table.partitioned || failures.length > 0) return undefined;
  const sending = publishedBy.filter(sendsChanges);
  if (sending.length === 0) return undefined;
  const obstacle = obstacles(FULL, found);
  return {
    id: 'old-values-not-sent',
    severity: 'info',
    fact: `has REPLICA IDENTITY ${identityClause(effective)} (${list(effective.columns)})`,
    consequence:
      'an update tells the key and the new row, a delete only the key: other old values are not sent',
    fix: [
      obstacle === ''
        ? `${setIdentity(table, FULL)} -- only if old values are needed: ${priceText(price)}`
        : sentence(`not with REPLICA IDENTITY FULL, which makes ${FAILING}: ${obstacle}`),
    ],
  };
}

function unchangedNotSent(found: TableIdentity): Note | undefined {
  const { table, effective, publishedBy, price, failures } = found;
  if (table.partitioned || failures.length > 0) return undefined;
  const columns = unsentColumns(table, effective, publishedBy);
  if (columns.length === 0 || publishedBy.length === 0) return undefined;
  const obstacle = obstacles(FULL, found);
  return {
    id: 'toasted-values-not-sent',
    severity: 'info',
    fact: `keeps large values of ${list(columns)} out of line (TOAST)`,
    consequence:
      'an update that leaves such a value alone does not send it: it is in unchanged, and not in new',
    fix: [
      obstacle === ''
        ? `${setIdentity(table, FULL)} -- only if they are needed: ${priceText(price)}`
        : sentence('read such a value from the table where it is needed'),
    ],
  };
}

function generatedNotSent({ table, publishedBy }: TableIdentity): Note | undefined {
  const leaving = publishedBy.filter((published) => unsentGenerated(table, published).length > 0);
  const [first] = leaving;
  if (first === undefined || table.partitioned) return undefined;
  const columns = unsentGenerated(table, first);
  const canSend =
    first.publication.generated !== undefined && columns.every((c) => c.generated === 'stored');
  return {
    id: 'generated-columns-not-sent',
    severity: 'info',
    fact: `has generated columns that ${publicationNames(leaving)} does not send: ${list(columns)}`,
    consequence: 'they are in no line: neither in new nor in old',
    fix: canSend
      ? leaving.map(publishGenerated)
      : [sentence('compute them from the other columns: this server cannot send them')],
  };
}
