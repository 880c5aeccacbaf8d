import type pg from "pg";
import type { Row } from "#projections/projection.ts";
import { columnArray } from "./columnArray.ts";
import type { WriteRound, RowChange, TableChanges } from "./foldChanges.ts";
import type { TableShape } from "./tables.ts";
import { SchemaMismatch } from "./errors.ts";

/** The schema that rows are written to. */
export interface Target {
  schema: string;
  tables: Map<string, TableShape>;
}

/** A condition for writing anything: CTEs, one of them `mine(ok)`, and their values. */
export interface Guard {
  ctes: string[];
  values: unknown[];
}

export interface Statement {
  ctes: string[];
  values: unknown[];
  guarded: boolean;
}

const MAX_NAMES = 256;
const names = new Map<string, string>();

/** A name per text. Limited, because each statement stays prepared on its connection. */
function statementName(text: string): string | undefined {
  const known = names.get(text);
  if (known || names.size >= MAX_NAMES) return known;
  const name = `w${names.size}`;
  names.set(text, name);
  return name;
}

/** Runs data-modifying CTEs as one statement, in one round trip. False if the guard failed. */
async function run(client: pg.ClientBase, { ctes, values, guarded }: Statement): Promise<boolean> {
  const text = `with ${ctes.join(",\n")}\nselect ${guarded ? "ok from mine" : "true as ok"}`;
  const { rows } = await client.query<{ ok: boolean }>({ name: statementName(text), text, values });
  return rows[0]!.ok;
}

/** Plans rounds as statements, in order. Throws SchemaMismatch if a change does not fit its table. */
export const planRounds = (target: Target, rounds: WriteRound[]): Statement[] =>
  rounds.flatMap((round) => planRound(target, round));

/** Runs planned statements atomically, and returns whether the guard held. Usually it is one statement in autocommit. */
export async function writePlan(client: pg.ClientBase, statements: Statement[]): Promise<boolean> {
  if (statements.length < 2) return runAll(client, statements);
  await client.query("begin");
  try {
    const held = await runAll(client, statements);
    await client.query(held ? "commit" : "rollback");
    return held;
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
}

/** Runs planned statements in the caller's open transaction. */
export async function runAll(client: pg.ClientBase, statements: Statement[]): Promise<boolean> {
  for (const statement of statements) if (!(await run(client, statement))) return false;
  return true;
}

/** Puts the guard before a statement. The guard's parameters come last, so that the statement's keep their numbers. */
export function addGuard(statement: Statement, guard: Guard): Statement {
  const shift = statement.values.length;
  const ctes = guard.ctes.map((cte) => cte.replace(/\$(\d+)/g, (_, n) => `$${Number(n) + shift}`));
  const writes = statement.ctes.map((cte) => cte.replace("/*guard*/ true", "(select ok from mine)"));
  return { ctes: [...ctes, ...writes], values: [...statement.values, ...guard.values], guarded: true };
}

/**
 * Plans a round as at most two statements: deletions by condition, then the rows. If a table has no patches, its deletions are part
 * of the second statement, and spare the rows that it puts. All parts of one statement see the rows from before it, so two parts
 * must not change the same row. No read model has a unique key beside its primary key.
 */
function planRound(target: Target, round: WriteRound): Statement[] {
  const before: Statement = { ctes: [], values: [], guarded: false };
  const rows: Statement = { ctes: [], values: [], guarded: false };
  for (const [table, changes] of round) {
    const shape = target.tables.get(table);
    const name = `${target.schema}.${table}`;
    if (!shape) throw new SchemaMismatch(`table ${name} does not exist`);
    const { puts, patches, removes } = sortRows(changes);
    if (patches.length > 0) addConditions(before, name, shape, changes);
    const putKeys = puts.length > 0 ? addInsert(rows, name, shape, puts) : undefined;
    if (patches.length > 0) addPatches(rows, name, shape, patches);
    else addConditions(rows, name, shape, changes, putKeys);
    if (removes.length > 0) addDelete(rows, name, shape, { columns: shape.key, except: undefined }, removes);
  }
  return [before, rows].filter((statement) => statement.ctes.length > 0);
}

function addConditions(
  statement: Statement,
  name: string,
  shape: TableShape,
  { wheres }: TableChanges,
  except?: string,
): void {
  for (const [columns, group] of groupByColumns(wheres, (where) => Object.keys(where)))
    addDelete(statement, name, shape, { columns, except }, group);
}

function sortRows({ rows }: TableChanges): { puts: Row[]; patches: RowChange[]; removes: Row[] } {
  const puts: Row[] = [];
  const patches: RowChange[] = [];
  const removes: Row[] = [];
  for (const change of rows.values()) {
    if (change.kind === "put") puts.push(change.row);
    else if (change.kind === "patch") patches.push(change);
    else removes.push(change.key);
  }
  return { puts, patches, removes };
}

function addPatches(statement: Statement, name: string, shape: TableShape, patches: RowChange[]): void {
  for (const [columns, group] of groupByColumns(patches, (change) => Object.keys(change.row).sort()))
    if (columns.length > 0)
      addUpdate(
        statement,
        name,
        shape,
        columns,
        group.map((change) => ({ ...change.row, ...change.key })),
      );
}

function groupByColumns<T>(items: T[], getColumns: (item: T) => string[]): [string[], T[]][] {
  const groups = new Map<string, [string[], T[]]>();
  for (const item of items) {
    const columns = getColumns(item);
    const id = columns.join(" ");
    const group = groups.get(id);
    if (group) group[1].push(item);
    else groups.set(id, [columns, [item]]);
  }
  return [...groups.values()];
}

/** Adds an insert. Returns a query for its keys. */
function addInsert(statement: Statement, name: string, shape: TableShape, rows: Row[]): string {
  const columns = [...shape.columns.keys()];
  const rest = columns.filter((column) => !shape.key.includes(column));
  const action =
    rest.length > 0 ? `update set ${rest.map((column) => `${column} = excluded.${column}`).join(", ")}` : "nothing";
  const from = addUnnest(statement, name, shape, columns, rows);
  statement.ctes.push(`w${statement.ctes.length} as (
    insert into ${name} (${columns.join(", ")}) select ${columns.map((c) => `u.${c}`).join(", ")} from ${from} where /*guard*/ true
    on conflict (${shape.key.join(", ")}) do ${action})`);
  return `select ${shape.key.map((column) => `u.${column}`).join(", ")} from ${from}`;
}

function addUpdate(statement: Statement, name: string, shape: TableShape, columns: string[], rows: Row[]): void {
  const from = addMatches(statement, name, shape, { columns: [...shape.key, ...columns], match: shape.key }, rows);
  statement.ctes.push(`w${statement.ctes.length} as (
    update ${name} t set ${columns.map((column) => `${column} = u.${column}`).join(", ")} from ${from}
    where t.ctid = u.matched and /*guard*/ true)`);
}

/** Deletes stored rows that are equal in these columns, except those whose keys are in the `except` query. */
function addDelete(
  statement: Statement,
  name: string,
  shape: TableShape,
  { columns, except }: { columns: string[]; except: string | undefined },
  rows: Row[],
): void {
  const from = addMatches(statement, name, shape, { columns, match: columns, except }, rows);
  statement.ctes.push(`w${statement.ctes.length} as (
    delete from ${name} t using ${from} where t.ctid = u.matched and /*guard*/ true)`);
}

/**
 * Adds the rows' columns as arrays, each with the `matched` stored rows that are equal in the `match` columns. `lateral … offset 0`
 * makes PostgreSQL look them up row by row, by index. The cached plan dates from when the tables were empty, and with a join it would
 * read the whole of a table that has grown since: 400 events a second instead of 20,000.
 */
function addMatches(
  statement: Statement,
  name: string,
  shape: TableShape,
  { columns, match, except }: { columns: string[]; match: string[]; except?: string | undefined },
  rows: Row[],
): string {
  const given = addUnnest(statement, name, shape, columns, rows);
  const isEqual = match.map((column) => `stored.${column} = u.${column}`).join(" and ");
  const key = shape.key.map((column) => `stored.${column}`).join(", ");
  // `not in` is hashed once
  const isOther = except === undefined ? "" : ` and (${key}) not in (${except})`;
  return `(select u.*, old.matched from ${given}
    cross join lateral (select stored.ctid as matched from ${name} stored where ${isEqual}${isOther} offset 0) old offset 0) u`;
}

/** Adds the rows' columns as arrays: `unnest($1::uuid[], $2::text[]) as u(id, name)`. */
function addUnnest(statement: Statement, name: string, shape: TableShape, columns: string[], rows: Row[]): string {
  const arrays = columns.map((column) => {
    const type = shape.columns.get(column);
    if (!type) throw new SchemaMismatch(`${name} has no column ${column}`);
    statement.values.push(columnArray(type, rows, column));
    return `$${statement.values.length}::${type}[]`;
  });
  return `unnest(${arrays.join(", ")}) as u(${columns.join(", ")})`;
}
