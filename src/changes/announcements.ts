// Relations and types: kept as announced, printed right before the first line that needs them.

import type { Formatter } from '../format/formatter.ts';
import type { TypeName } from '../pgoutput/messages.ts';
import type { Relation } from '../pgoutput/relation.ts';
import type { TypeRegistry } from '../pgtypes/type-registry.ts';
import type { Selection } from './selection.ts';

/** What was last printed for each id: over all connections of a run. */
export interface PrintedAnnouncements {
  readonly relations: Map<number, Relation>;
  readonly types: Map<number, TypeName>;
}

export const nothingPrinted = (): PrintedAnnouncements => ({
  relations: new Map(),
  types: new Map(),
});

export interface AnnouncementOptions {
  readonly formatter: Formatter;
  readonly selection: Selection;
  readonly types: TypeRegistry;
  readonly printed?: PrintedAnnouncements | undefined;
}

/** The server announces a relation again whenever it likes; it is printed again if it differs. */
export class Announcements {
  readonly #formatter: Formatter;
  readonly #selection: Selection;
  readonly #types: TypeRegistry;
  readonly #shown = new Map<number, boolean>();
  readonly #known = new Map<number, Relation>();
  readonly #printed: PrintedAnnouncements;
  /** The relation of the last row: most rows follow one of the same relation. */
  #lastShown: Relation | null = null;
  #lastAnnounced: Relation | null = null;
  /** What needs no look again while no type is announced: rows may come from many tables in turn. */
  readonly #settled = new Set<Relation>();

  constructor({ formatter, selection, types, printed }: AnnouncementOptions) {
    this.#formatter = formatter;
    this.#selection = selection;
    this.#types = types;
    this.#printed = printed ?? nothingPrinted();
  }

  type(type: TypeName): void {
    this.#settled.clear();
    this.#types.announce(type);
  }

  /** What was last announced under this id on this connection. */
  known(relationId: number): Relation | undefined {
    return this.#known.get(relationId);
  }

  relation(relation: Relation): void {
    const before = this.#known.get(relation.relationId);
    if (before !== undefined) this.#settled.delete(before);
    this.#known.set(relation.relationId, relation);
    this.#shown.set(relation.relationId, this.#selection.showsTable(relation));
  }

  isShown(relation: Relation): boolean {
    if (relation === this.#lastShown) return true;
    if (!this.#shown.get(relation.relationId)) return false;
    this.#lastShown = relation;
    return true;
  }

  /** Prints the relation and its types, unless just that was printed last. */
  announce(relation: Relation): void {
    if (relation === this.#lastAnnounced) return;
    this.#lastAnnounced = relation;
    if (this.#settled.has(relation)) return;
    this.#settled.add(relation);
    const previous = this.#printed.relations.get(relation.relationId);
    const changedTypes = this.#unprintedTypes(relation);
    if (previous && sameRelation(previous, relation) && changedTypes.length === 0) return;
    if (this.#selection.shows('type')) for (const type of changedTypes) this.#formatter.type(type);
    for (const type of changedTypes) this.#printed.types.set(type.typeId, type);
    if (this.#selection.shows('relation')) this.#formatter.relation(relation, previous);
    this.#printed.relations.set(relation.relationId, relation);
  }

  #unprintedTypes(relation: Relation): readonly TypeName[] {
    const announced = this.#types.announcedAmong(relation.columns);
    return announced.filter((type) => !sameType(this.#printed.types.get(type.typeId), type));
  }
}

function sameType(printed: TypeName | undefined, type: TypeName): boolean {
  return printed?.schema === type.schema && printed.name === type.name;
}

export function sameRelation(a: Relation, b: Relation): boolean {
  const sameTable = a.schema === b.schema && a.name === b.name && a.identity === b.identity;
  return (
    sameTable &&
    a.columns.length === b.columns.length &&
    a.columns.every((column, i) => {
      const other = b.columns[i]!;
      return (
        column.name === other.name &&
        column.typeId === other.typeId &&
        column.typmod === other.typmod &&
        column.key === other.key
      );
    })
  );
}
