import type { NewEvent } from "#events/define.ts";
import type { RecordedEvent } from "#events/envelope.ts";
import { isUuid, parseStreamName } from "#events/ids.ts";

/** A value of a row. Free text must be JSON encoded (see `encode`), because PostgreSQL refuses NUL characters in text. */
export type ColumnValue = string | number | boolean | Date | null;
export type Row = Record<string, ColumnValue>;

/**
 * A change of a read model. Rows are addressed by their primary key, so that a batch of changes can be folded and written
 * set by set. `put` writes the whole row (key and row together; omitted columns become null), `patch` writes some columns of
 * a row if it exists, `remove` removes one row, `removeWhere` all rows with those values.
 */
export type Change =
  | { table: string; kind: "put"; key: Row; row: Row }
  | { table: string; kind: "patch"; key: Row; row: Row }
  | { table: string; kind: "remove"; key: Row }
  | { table: string; kind: "removeWhere"; where: Row };

/** A row's primary key: the value of its column `id`, or its columns. */
type Key = string | Row;
const keyColumns = (key: Key): Row => (typeof key === "string" ? { id: key } : key);

export const putRow = (table: string, key: Key, row: Row): Change => ({
  table,
  kind: "put",
  key: keyColumns(key),
  row,
});
export const patchRow = (table: string, key: Key, row: Row): Change => ({
  table,
  kind: "patch",
  key: keyColumns(key),
  row,
});
export const removeRow = (table: string, key: Key): Change => ({ table, kind: "remove", key: keyColumns(key) });
export const removeRows = (table: string, where: Row): Change => ({ table, kind: "removeWhere", where });

/** One read model: its tables, and the changes that each event makes in them. Raise `version` to rebuild it. */
export interface Projection {
  name: string;
  version: number;
  /** Path of the SQL that creates the tables. Names are unqualified: the runner sets the schema. */
  tables: URL;
  /**
   * Set if its rows decide about access: they are flushed at commit and survive a crash of the database server. Rows of other
   * projections are written without a flush, and may be behind the log for a moment after a crash.
   */
  durable?: boolean;
  /** Event types not named here change nothing. */
  on: Record<string, (event: RecordedEvent<any>) => Change[]>;
}

/** A projection of the events E. It must handle each of them, even if with `[]`. */
export function defineProjection<E extends NewEvent>(
  projection: Omit<Projection, "on"> & {
    on: { [T in E["type"]]: (event: RecordedEvent<Extract<E, { type: T }>>) => Change[] };
  },
): Projection {
  return projection;
}

/** A database connection, as queries use it. */
export interface Db {
  query<R = Record<string, unknown>>(text: string, values?: unknown[]): Promise<R[]>;
}

/** The first row of a query. */
export async function findRow<Stored, Row>(
  db: Db,
  query: string,
  values: unknown[],
  parseRow: (row: Stored) => Row,
): Promise<Row | undefined> {
  const [row] = await db.query<Stored>(query, values);
  return row && parseRow(row);
}

/** A function that finds the row of a thing ($2) of its organization or workflow ($1). Text that is not an id finds none. */
export const findById =
  <Stored, Row>(query: string, parseRow: (row: Stored) => Row) =>
  async (db: Db, owner: string, id: string): Promise<Row | undefined> =>
    isUuid(id) ? findRow(db, query, [owner, id], parseRow) : undefined;

/** Encodes a value for a column of JSON text. Null and undefined become null. */
export const encode = (value: unknown): string | null =>
  value === undefined || value === null ? null : JSON.stringify(value);

/** Decodes a nullable column of JSON text. */
export const decodeOrNull = <T>(column: string | null): T | null =>
  column === null ? null : (JSON.parse(column) as T);

/** Decodes a column of JSON text. */
export const decode = <T>(column: string): T => JSON.parse(column) as T;

/** Encodes an event's fields as columns, some as JSON text. Leaves out fields that the event does not set. */
export const encodeColumns = (fields: object, encoded: ReadonlySet<string>): Row =>
  Object.fromEntries(
    Object.entries<ColumnValue>({ ...fields })
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, encoded.has(name) ? encode(value) : value]),
  );

/** Changes of a table whose rows are things of an organization, with the times of creation and last change. */
export const thingRows = (table: string) => ({
  create: (
    { organization_id, recorded_at }: Pick<RecordedEvent, "organization_id" | "recorded_at">,
    id: string,
    row: Row,
  ): Change => putRow(table, id, { organization_id, ...row, created_at: recorded_at, updated_at: recorded_at }),
  change: ({ recorded_at }: Pick<RecordedEvent, "recorded_at">, id: string, row: Row): Change =>
    patchRow(table, id, { ...row, updated_at: recorded_at }),
  remove: (id: string): Change => removeRow(table, id),
});

/** Changes of a table whose rows are streams of an organization: the first event creates the row, later ones change it. */
export const streamRow =
  (table: string) =>
  (
    {
      stream,
      version,
      organization_id,
      recorded_at,
    }: Pick<RecordedEvent, "stream" | "version" | "organization_id" | "recorded_at">,
    row: Row,
  ): Change[] => {
    const { create, change } = thingRows(table);
    const { id } = parseStreamName(stream);
    return [version === 1 ? create({ organization_id, recorded_at }, id, row) : change({ recorded_at }, id, row)];
  };
