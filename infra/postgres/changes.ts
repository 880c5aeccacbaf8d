import type { Change, Row } from "#projections/projection.ts";

/** What becomes of one row. */
export interface RowChange {
  kind: "put" | "patch" | "remove";
  key: Row;
  /** All columns for `put`, the changed ones for `patch`, none for `remove`. */
  row: Row;
}

/** Changes of one table that can be written set by set: first the rows of `wheres` go, then each of `rows` is written. */
export interface TableChanges {
  wheres: Row[];
  rows: Map<string, RowChange>;
}

/** Rounds are written one after the other; within one, no row is touched twice after its `wheres`. */
export type Round = Map<string, TableChanges>;

/**
 * Folds changes, in order, into as few rounds as possible (one, but for the rare case below): a later put replaces what
 * is pending for its row, a patch is merged into it, a remove drops it.
 */
export function foldChanges(changes: Change[]): Round[] {
  let round: Round = new Map();
  const rounds = [round];
  for (const change of changes) {
    let table = tableOf(round, change.table);
    if (change.kind === "removeWhere") {
      if (patchesAnyOf(table, change.where)) {
        rounds.push((round = new Map()));
        table = tableOf(round, change.table);
      }
      removeWhere(table, change.where);
    } else changeRow(table, change);
  }
  return rounds.filter((one) => one.size > 0);
}

function tableOf(round: Round, name: string): TableChanges {
  let table = round.get(name);
  if (!table) round.set(name, (table = { wheres: [], rows: new Map() }));
  return table;
}

function changeRow({ rows }: TableChanges, change: Exclude<Change, { kind: "removeWhere" }>): void {
  const id = rowId(change.key);
  const pending = rows.get(id);
  if (change.kind === "put") rows.set(id, { kind: "put", key: change.key, row: { ...change.key, ...change.row } });
  else if (change.kind === "remove") rows.set(id, { kind: "remove", key: change.key, row: {} });
  else if (!pending) rows.set(id, { kind: "patch", key: change.key, row: { ...change.row } });
  else if (pending.kind !== "remove") Object.assign(pending.row, change.row);
}

const rowId = (key: Row): string => Object.values(key).join("\n");

/** A stored row whose pending patch changes what the condition asks about cannot be judged before the patch is written. */
function patchesAnyOf({ rows }: TableChanges, where: Row): boolean {
  for (const change of rows.values())
    if (change.kind === "patch" && Object.keys(where).some((column) => column in change.row)) return true;
  return false;
}

/** Stored rows are removed ahead of the pending ones, which are judged here. */
function removeWhere(table: TableChanges, where: Row): void {
  table.wheres.push(where);
  const conditions = Object.entries(where);
  for (const [id, { kind, key, row }] of table.rows)
    if (kind === "put" && conditions.every(([column, value]) => row[column] === value))
      table.rows.set(id, { kind: "remove", key, row: {} });
}
