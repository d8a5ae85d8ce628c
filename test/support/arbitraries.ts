// fast-check arbitraries for pgoutput: values, and whole scripts of messages a server could send.

import fc from 'fast-check';
import type { Relation, ReplicaIdentity } from '../../src/pgoutput/relation.ts';
import {
  UNCHANGED,
  type WireColumn,
  type WireValue,
  writeBegin,
  writeBeginPrepare,
  writeCommit,
  writeCommitPrepared,
  writeDelete,
  writeInsert,
  writeMessage,
  writeOrigin,
  writePrepare,
  writeRelation,
  writeRollbackPrepared,
  writeStreamAbort,
  writeStreamCommit,
  writeStreamPrepare,
  writeStreamStart,
  writeStreamStop,
  writeTruncate,
  writeType,
  writeUpdate,
} from './pgoutput-writer.ts';
import type { RecordedCall, RecordedColumn, RecordedTuple } from './recording-handler.ts';

/** A message as it stands on the wire, and the call a right decoder makes of it. */
export interface WrittenMessage {
  readonly walStart: bigint;
  readonly bytes: Buffer;
  readonly expected: RecordedCall;
}

export interface ScriptOptions {
  /** Stream blocks, two-phase messages and binary values too: all of protocol 4. */
  readonly protocol: 1 | 4;
}

/** Any text: every code point but the surrogate halves, which UTF-8 cannot hold. */
export const anyText: fc.Arbitrary<string> = fc.string({ unit: 'binary', maxLength: 40 });
/** Any text that a C string can hold. */
export const cText: fc.Arbitrary<string> = anyText.map((text) => text.replaceAll('\0', ''));
const schemaName = fc.oneof(
  fc.constantFrom('public', 'pg_catalog', 'Ünï "q"'),
  cText.map((text) => text || 'shop'),
);

export const anyLsn: fc.Arbitrary<bigint> = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
export const anyTimestamp: fc.Arbitrary<bigint> = fc.bigInt({
  min: -(2n ** 63n),
  max: 2n ** 63n - 1n,
});
export const anyXid: fc.Arbitrary<number> = fc.integer({ min: 1, max: 0xffff_ffff });
/** OIDs of text, varchar and user types: those that no client library converts. */
const textLikeOid = fc.oneof(
  fc.constantFrom(25, 1043),
  fc.integer({ min: 16_384, max: 0xffff_ffff }),
);
const relationOid = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(16_385, 16_392, 4_294_967_295) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 0xffff_ffff }) },
);

const textValue: fc.Arbitrary<WireValue> = fc.oneof(
  { weight: 1, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.constant(UNCHANGED) },
  { weight: 4, arbitrary: anyText },
);
const bytesValue: fc.Arbitrary<WireValue> = fc.uint8Array({ maxLength: 40 });

/** Endless columns for a row, as the relation may have any number: they repeat. */
const cells = (options: ScriptOptions): fc.Arbitrary<readonly WireValue[]> =>
  fc.array(options.protocol === 1 ? textValue : fc.oneof(textValue, bytesValue), {
    minLength: 1,
    maxLength: 8,
  });

const IDENTITIES = { d: 'default', n: 'nothing', f: 'full', i: 'index' } as const satisfies Record<
  string,
  ReplicaIdentity
>;

const column: fc.Arbitrary<WireColumn> = fc.record({
  name: cText,
  typeId: textLikeOid,
  typmod: fc.oneof(fc.constant(-1), fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
  key: fc.boolean(),
});
const columns = fc.uniqueArray(column, { maxLength: 40, selector: ({ name }) => name });

/** What a script has said so far: the relations a row may name, and the open stream block. */
interface ScriptState {
  readonly relations: Map<number, Relation>;
  streamOpen: boolean;
}

/** Makes the next message of a script, or none if it could not come here. */
type Step = (state: ScriptState) => WrittenMessage | null;

/** Messages in an order a server could send, every row after its relation. */
export function messageScript(options: ScriptOptions): fc.Arbitrary<readonly WrittenMessage[]> {
  const step =
    options.protocol === 1
      ? fc.oneof(...protocolOneSteps(options))
      : fc.oneof(...protocolOneSteps(options), ...laterSteps());
  return fc.tuple(relationStep(), fc.array(step, { maxLength: 30 })).map(([first, rest]) => {
    const state: ScriptState = { relations: new Map(), streamOpen: false };
    return [first, ...rest].flatMap((make) => make(state) ?? []);
  });
}

function protocolOneSteps(options: ScriptOptions): fc.Arbitrary<Step>[] {
  return [
    beginStep(),
    commitStep(),
    originStep(),
    relationStep(),
    typeStep(),
    insertStep(options),
    updateStep(options),
    deleteStep(options),
    truncateStep(),
    messageStep(),
  ];
}

function laterSteps(): fc.Arbitrary<Step>[] {
  return [
    streamToggleStep(),
    streamToggleStep(),
    streamCommitStep(),
    streamAbortStep(),
    prepareStep(),
    commitPreparedStep(),
    rollbackPreparedStep(),
  ];
}

const outsideStream =
  (message: WrittenMessage): Step =>
  (state) =>
    state.streamOpen ? null : message;

const transactionEnd = { commitLsn: anyLsn, endLsn: anyLsn, commitTime: anyTimestamp };

function beginStep(): fc.Arbitrary<Step> {
  const begin = fc.record({ commitLsn: anyLsn, commitTime: anyTimestamp, xid: anyXid });
  return fc
    .tuple(anyLsn, begin)
    .map(([walStart, begin]) =>
      outsideStream({ walStart, bytes: writeBegin(begin), expected: { call: 'begin', begin } }),
    );
}

function commitStep(): fc.Arbitrary<Step> {
  return fc
    .tuple(anyLsn, fc.record(transactionEnd))
    .map(([walStart, commit]) =>
      outsideStream({ walStart, bytes: writeCommit(commit), expected: { call: 'commit', commit } }),
    );
}

function originStep(): fc.Arbitrary<Step> {
  const origin = fc.record({ originLsn: anyLsn, name: cText });
  return fc.tuple(anyLsn, origin).map(([walStart, origin]) => () => ({
    walStart,
    bytes: writeOrigin(origin),
    expected: { call: 'origin', origin },
  }));
}

function relationStep(): fc.Arbitrary<Step> {
  const letter = fc.constantFrom('d', 'n', 'f', 'i');
  const parts = fc.record({ relationId: relationOid, schema: schemaName, name: cText, columns });
  return fc.tuple(parts, letter, anyXid).map(([parts, letter, xid]) => (state) => {
    const relation: Relation = { ...parts, identity: IDENTITIES[letter] };
    state.relations.set(relation.relationId, relation);
    const bytes = writeRelation({ ...parts, identity: letter }, state.streamOpen ? xid : 0);
    return { walStart: 0n, bytes, expected: { call: 'relation', relation } };
  });
}

function typeStep(): fc.Arbitrary<Step> {
  const type = fc.record({ typeId: textLikeOid, schema: schemaName, name: cText });
  return fc.tuple(type, anyXid).map(([type, xid]) => (state) => ({
    walStart: 0n,
    bytes: writeType(type, state.streamOpen ? xid : 0),
    expected: { call: 'type', type },
  }));
}

/** Where a row stands: its LSN, its xid if streamed, and which of the announced relations. */
const place = fc.record({ lsn: anyLsn, xid: anyXid, pick: fc.nat({ max: 1000 }) });

interface Place {
  readonly lsn: bigint;
  readonly xid: number;
  readonly pick: number;
}

function placeIn(state: ScriptState, place: Place) {
  const relations = [...state.relations.values()];
  const streamXid = state.streamOpen ? place.xid : 0;
  return { relation: relations[place.pick % relations.length]!, at: { lsn: place.lsn, streamXid } };
}

function insertStep(options: ScriptOptions): fc.Arbitrary<Step> {
  return fc.tuple(place, cells(options)).map(([place, cells]) => (state) => {
    const { relation, at } = placeIn(state, place);
    const values = rowOf(relation, cells);
    return {
      walStart: at.lsn,
      bytes: writeInsert(relation.relationId, values, at.streamXid),
      expected: { call: 'insert', at, relation, newRow: recorded('new', values) },
    };
  });
}

const oldRowPart = fc.constantFrom('K' as const, 'O' as const);

function updateStep(options: ScriptOptions): fc.Arbitrary<Step> {
  const parts = fc.tuple(place, cells(options), fc.option(oldRowPart), cells(options));
  return parts.map(([place, newCells, part, oldCells]) => (state) => {
    const { relation, at } = placeIn(state, place);
    const values = rowOf(relation, newCells);
    const oldValues = rowOf(relation, oldCells);
    const old = part === null ? null : { part, values: oldValues };
    return {
      walStart: at.lsn,
      bytes: writeUpdate(relation.relationId, values, old, at.streamXid),
      expected: {
        call: 'update',
        at,
        relation,
        newRow: recorded('new', values),
        oldRow: part === null ? null : recorded(part === 'K' ? 'key' : 'old', oldValues),
      },
    };
  });
}

function deleteStep(options: ScriptOptions): fc.Arbitrary<Step> {
  return fc.tuple(place, oldRowPart, cells(options)).map(([place, part, cells]) => (state) => {
    const { relation, at } = placeIn(state, place);
    const values = rowOf(relation, cells);
    const oldRow = recorded(part === 'K' ? 'key' : 'old', values);
    return {
      walStart: at.lsn,
      bytes: writeDelete(relation.relationId, { part, values }, at.streamXid),
      expected: { call: 'delete', at, relation, oldRow },
    };
  });
}

function truncateStep(): fc.Arbitrary<Step> {
  const options = fc.record({ cascade: fc.boolean(), restartIdentity: fc.boolean() });
  return fc.tuple(place, options, fc.nat({ max: 5 })).map(([place, options, more]) => (state) => {
    const { relation, at } = placeIn(state, place);
    const relations = [relation, ...[...state.relations.values()].slice(0, more)];
    const relationIds = relations.map(({ relationId }) => relationId);
    return {
      walStart: at.lsn,
      bytes: writeTruncate(relationIds, options, at.streamXid),
      expected: { call: 'truncate', at, relations, options },
    };
  });
}

function messageStep(): fc.Arbitrary<Step> {
  const logical = fc.record({
    transactional: fc.boolean(),
    lsn: anyLsn,
    prefix: cText,
    content: fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
  });
  return fc.tuple(anyLsn, anyXid, logical).map(([lsn, xid, message]) => (state) => {
    const streamXid = state.streamOpen ? xid : 0;
    return {
      walStart: lsn,
      bytes: writeMessage(message, streamXid),
      expected: { call: 'message', at: { lsn, streamXid }, message },
    };
  });
}

function streamToggleStep(): fc.Arbitrary<Step> {
  const start = fc.record({ xid: anyXid, first: fc.boolean() });
  return fc.tuple(anyLsn, start).map(([walStart, start]) => (state) => {
    state.streamOpen = !state.streamOpen;
    return state.streamOpen
      ? { walStart, bytes: writeStreamStart(start), expected: { call: 'streamStart', start } }
      : { walStart, bytes: writeStreamStop(), expected: { call: 'streamStop' } };
  });
}

function streamCommitStep(): fc.Arbitrary<Step> {
  const commit = fc.record({ xid: anyXid, ...transactionEnd });
  return fc.tuple(anyLsn, commit).map(([walStart, commit]) =>
    outsideStream({
      walStart,
      bytes: writeStreamCommit(commit),
      expected: { call: 'streamCommit', commit },
    }),
  );
}

function streamAbortStep(): fc.Arbitrary<Step> {
  const info = fc.option(fc.record({ lsn: anyLsn, time: anyTimestamp }), { nil: undefined });
  return fc.tuple(anyLsn, anyXid, anyXid, info).map(([walStart, xid, subxid, abort]) =>
    outsideStream({
      walStart,
      bytes: writeStreamAbort(xid, subxid, abort),
      expected: { call: 'streamAbort', abort: { xid, subxid, abort } },
    }),
  );
}

function prepareStep(): fc.Arbitrary<Step> {
  const prepare = fc.record({
    prepareLsn: anyLsn,
    endLsn: anyLsn,
    prepareTime: anyTimestamp,
    xid: anyXid,
    gid: cText,
  });
  const kind = fc.constantFrom('beginPrepare' as const, 'prepare' as const, 'streamPrepare');
  const write = {
    beginPrepare: writeBeginPrepare,
    prepare: writePrepare,
    streamPrepare: writeStreamPrepare,
  };
  return fc
    .tuple(anyLsn, kind, prepare)
    .map(([walStart, call, prepare]) =>
      outsideStream({ walStart, bytes: write[call](prepare), expected: { call, prepare } }),
    );
}

function commitPreparedStep(): fc.Arbitrary<Step> {
  const commit = fc.record({ ...transactionEnd, xid: anyXid, gid: cText });
  return fc.tuple(anyLsn, commit).map(([walStart, commit]) =>
    outsideStream({
      walStart,
      bytes: writeCommitPrepared(commit),
      expected: { call: 'commitPrepared', commit },
    }),
  );
}

function rollbackPreparedStep(): fc.Arbitrary<Step> {
  const rollback = fc.record({
    prepareEndLsn: anyLsn,
    rollbackEndLsn: anyLsn,
    prepareTime: anyTimestamp,
    rollbackTime: anyTimestamp,
    xid: anyXid,
    gid: cText,
  });
  return fc.tuple(anyLsn, rollback).map(([walStart, rollback]) =>
    outsideStream({
      walStart,
      bytes: writeRollbackPrepared(rollback),
      expected: { call: 'rollbackPrepared', rollback },
    }),
  );
}

function rowOf(relation: Relation, cells: readonly WireValue[]): WireValue[] {
  return relation.columns.map((_, i) => cells[i % cells.length]!);
}

function recorded(role: RecordedTuple['role'], values: readonly WireValue[]): RecordedTuple {
  return { role, columns: values.map(recordedColumn) };
}

function recordedColumn(value: WireValue): RecordedColumn {
  if (value === null) return { kind: 'n' };
  if (value === UNCHANGED) return { kind: 'u' };
  if (typeof value === 'string') return { kind: 't', text: value };
  return { kind: 'b', bytes: Buffer.from(value) };
}
