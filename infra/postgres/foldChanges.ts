import type { Change, ColumnValue, Row } from "#projections/projection.ts";

/** The combined change of one row. */
export interface RowChange {
  kind: "put" | "patch" | "remove";
  key: Row;
  /** All columns for `put`, the changed ones for `patch`, none for `remove`. */
  row: Row;
}

/** Changes of one table, written as sets: first removes the rows that match `wheres`, then writes each of `rows`. */
export interface TableChanges {
  wheres: Row[];
  rows: Map<string, RowChange>;
}

/** Rounds are written one after the other. Within a round, no row is written twice after its `wheres`. */
export type WriteRound = Map<string, TableChanges>;

/** Indexes for applying a condition without checking every pending row: a batch has a thousand rows, and possibly as many conditions. */
interface PendingChanges extends TableChanges {
  /** Columns changed by pending patches. */
  patched: Set<string>;
  /** By the first column of a condition: ids of rows that have had each value. */
  idsByValue: Map<string, Map<ColumnValue | undefined, string[]>>;
}

/**
 * Folds changes, in order, into as few rounds as possible, usually one: a later put replaces the pending change of its row, a patch
 * is merged into it, a remove drops it.
 */
export function foldChanges(changes: Change[]): WriteRound[] {
  let round = new Map<string, PendingChanges>();
  const rounds = [round];
  for (const change of changes) {
    let table = changesFor(round, change.table);
    if (change.kind === "removeWhere") {
      if (Object.keys(change.where).some((column) => table.patched.has(column))) {
        rounds.push((round = new Map()));
        table = changesFor(round, change.table);
      }
      removeWhere(table, change.where);
    } else changeRow(table, change);
  }
  return rounds.filter((one) => one.size > 0);
}

function changesFor(round: Map<string, PendingChanges>, name: string): PendingChanges {
  let table = round.get(name);
  if (!table) round.set(name, (table = { wheres: [], rows: new Map(), patched: new Set(), idsByValue: new Map() }));
  return table;
}

function changeRow(table: PendingChanges, change: Exclude<Change, { kind: "removeWhere" }>): void {
  const { rows, patched, idsByValue } = table;
  const id = rowId(change.key);
  const pending = rows.get(id);
  if (change.kind === "put") rows.set(id, { kind: "put", key: change.key, row: { ...change.key, ...change.row } });
  else if (change.kind === "remove") rows.set(id, { kind: "remove", key: change.key, row: {} });
  else if (!pending) rows.set(id, { kind: "patch", key: change.key, row: { ...change.row } });
  else if (pending.kind !== "remove") Object.assign(pending.row, change.row);
  const { kind, row } = rows.get(id)!;
  if (kind === "patch") for (const column of Object.keys(row)) patched.add(column);
  for (const [column, ids] of idsByValue) addId(ids, row[column], id);
}

const rowId = (key: Row): string => Object.values(key).join("\n");

function addId(ids: Map<ColumnValue | undefined, string[]>, value: ColumnValue | undefined, id: string): void {
  const known = ids.get(value);
  if (known) known.push(id);
  else ids.set(value, [id]);
}

/** Ids of the pending rows that have or had this value. */
function findIds({ rows, idsByValue }: PendingChanges, column: string, value: ColumnValue): string[] {
  let ids = idsByValue.get(column);
  if (!ids) {
    idsByValue.set(column, (ids = new Map()));
    for (const [id, { row }] of rows) addId(ids, row[column], id);
  }
  return ids.get(value) ?? [];
}

/** The condition removes stored rows before pending ones are written, so matching pending rows are removed here. */
function removeWhere(table: PendingChanges, where: Row): void {
  table.wheres.push(where);
  const conditions = Object.entries(where);
  for (const id of findIds(table, ...conditions[0]!)) {
    const { kind, key, row } = table.rows.get(id)!;
    if (kind === "put" && conditions.every(([column, value]) => row[column] === value))
      table.rows.set(id, { kind: "remove", key, row: {} });
  }
}
