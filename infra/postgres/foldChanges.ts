import type { Change, Row } from "#projections/projection.ts";

/** The resulting change of one row. */
export interface RowChange {
  kind: "put" | "patch" | "remove";
  key: Row;
  /** All columns for `put`, the changed ones for `patch`, none for `remove`. */
  row: Row;
}

/** Changes of one table, to be written as sets: first the rows that match `wheres` are removed, then each of `rows` is written. */
export interface TableChanges {
  wheres: Row[];
  rows: Map<string, RowChange>;
}

/** Rounds are written one after the other. Within one, no row is written twice after its `wheres`. */
export type Round = Map<string, TableChanges>;

/**
 * Folds changes, in order, into as few rounds as possible, usually one: a later put replaces the pending change of its
 * row, a patch is merged into it, a remove drops it.
 */
export function foldChanges(changes: Change[]): Round[] {
  let round: Round = new Map();
  const rounds = [round];
  for (const change of changes) {
    let table = changesFor(round, change.table);
    if (change.kind === "removeWhere") {
      if (mayPatchMatch(table, change.where)) {
        rounds.push((round = new Map()));
        table = changesFor(round, change.table);
      }
      removeWhere(table, change.where);
    } else changeRow(table, change);
  }
  return rounds.filter((one) => one.size > 0);
}

function changesFor(round: Round, name: string): TableChanges {
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

/** Whether a pending patch changes a column of the condition: whether its row matches is only known once the patch is written. */
function mayPatchMatch({ rows }: TableChanges, where: Row): boolean {
  for (const change of rows.values())
    if (change.kind === "patch" && Object.keys(where).some((column) => column in change.row)) return true;
  return false;
}

/** The condition removes stored rows before pending ones are written, so pending rows that match it are removed here. */
function removeWhere(table: TableChanges, where: Row): void {
  table.wheres.push(where);
  const conditions = Object.entries(where);
  for (const [id, { kind, key, row }] of table.rows)
    if (kind === "put" && conditions.every(([column, value]) => row[column] === value))
      table.rows.set(id, { kind: "remove", key, row: {} });
}
