// Partitioned tables published through their root: rows come under the root's name, but what is sent
// of an old row is what the leaf's own REPLICA IDENTITY keeps.
// https://www.postgresql.org/docs/current/sql-createpublication.html (publish_via_partition_root)

import type { LeafIdentities, LeafLimits } from '../format/formatter.ts';
import type { Relation } from '../pgoutput/relation.ts';

/**
 * No message says which leaf a row is from. But before the first row of a leaf the server announces
 * its root and then the leaf itself, as both were when the row was written: the row under the
 * root's id that follows tells that the two belong together.
 */
export class PartitionRoots implements LeafIdentities {
  readonly #leaves = new Map<number, Map<number, Relation>>();
  readonly #limits = new Map<number, { readonly root: Relation; readonly limits: LeafLimits }>();
  /** Roots of which an update came without the old row that FULL promises. */
  readonly #withoutOldRow = new Set<number>();
  /** What was announced last, since the last other message. */
  #last: Relation | null = null;
  #beforeLast: Relation | null = null;

  announced(relation: Relation): void {
    this.#beforeLast = this.#last;
    this.#last = relation;
  }

  /** A row under this id came, or was left out. */
  row(relationId: number): void {
    const leaf = this.#last;
    if (leaf === null) return;
    if (leaf.relationId !== relationId && this.#beforeLast?.relationId === relationId) {
      this.#learn(relationId, leaf);
    }
    this.otherMessage();
  }

  otherMessage(): void {
    this.#last = null;
    this.#beforeLast = null;
  }

  updateWithoutOldRow(root: Relation): void {
    if (root.identity !== 'full' || this.#withoutOldRow.has(root.relationId)) return;
    this.#withoutOldRow.add(root.relationId);
    this.#limits.delete(root.relationId);
  }

  limitsOf(root: Relation): LeafLimits | undefined {
    // for each update and delete: most databases publish no root
    if (this.#leaves.size === 0 && this.#withoutOldRow.size === 0) return undefined;
    const known = this.#limits.get(root.relationId);
    if (known?.root === root) return known.limits;
    const leaves = this.#leaves.get(root.relationId);
    if (leaves === undefined && !this.#withoutOldRow.has(root.relationId)) return undefined;
    const limits = this.#limitsBy(root, [...(leaves?.values() ?? [])]);
    this.#limits.set(root.relationId, { root, limits });
    return limits;
  }

  #learn(rootId: number, leaf: Relation): void {
    const leaves = this.#leaves.get(rootId) ?? new Map<number, Relation>();
    leaves.set(leaf.relationId, leaf);
    this.#leaves.set(rootId, leaves);
    this.#limits.delete(rootId);
  }

  #limitsBy(root: Relation, leaves: readonly Relation[]): LeafLimits {
    const withoutOldRow = this.#withoutOldRow.has(root.relationId);
    return {
      oldIsPartial: withoutOldRow || leaves.some(({ identity }) => identity !== 'full'),
      keptColumns: root.columns.map(({ name }) => leaves.every((leaf) => keeps(leaf, name))),
    };
  }
}

/** Whether the leaf's identity has the column, so that a change of it would have been told. */
function keeps({ identity, columns }: Relation, name: string): boolean {
  if (identity === 'full') return true;
  if (identity === 'nothing') return false;
  return columns.some((column) => column.key && column.name === name);
}
