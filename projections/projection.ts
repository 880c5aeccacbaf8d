import type { NewEvent } from "#events/define.ts";
import type { Recorded } from "#events/envelope.ts";

/** A value of a row. Free text is given JSON encoded, because PostgreSQL refuses NUL in text: see `encode`. */
export type Value = string | number | boolean | Date | null;
export type Row = Record<string, Value>;

/**
 * What an event changes in a read model. Rows are addressed by their primary key, so that a batch of changes can be
 * folded and written set by set:
 * `put` writes the whole row (key and row together; a column left out becomes null), `patch` some columns of a row if it
 * exists, `remove` one row, `removeWhere` all rows with those values.
 */
export type Change =
  | { table: string; kind: "put"; key: Row; row: Row }
  | { table: string; kind: "patch"; key: Row; row: Row }
  | { table: string; kind: "remove"; key: Row }
  | { table: string; kind: "removeWhere"; where: Row };

/** One read model: its tables, and what each event changes in them. Raise `version` to have it built anew. */
export interface Projection {
  name: string;
  version: number;
  /** Path of the SQL that makes the tables, unqualified: the runner sets the schema. */
  tables: URL;
  /**
   * Its rows decide who may come in, so what was answered must hold through a crash of the database server too. Other
   * rows may fall back behind the log for the moment of a restart: they are written without waiting for the disk.
   */
  durable?: boolean;
  /** Event types not named here change nothing. */
  on: Record<string, (event: Recorded<any>) => Change[]>;
}

/** A projection of the events E: it must say something about each of them, even if that is `[]`. */
export function defineProjection<E extends NewEvent>(
  projection: Omit<Projection, "on"> & {
    on: { [T in E["type"]]: (event: Recorded<Extract<E, { type: T }>>) => Change[] };
  },
): Projection {
  return projection;
}

/** What queries need of a database connection. */
export interface Db {
  query<R = Record<string, unknown>>(text: string, values?: unknown[]): Promise<R[]>;
}

/** A value as it is kept in a column of JSON text; null and undefined stay null. */
export const encode = (value: unknown): string | null =>
  value === undefined || value === null ? null : JSON.stringify(value);

/** The value of a column of JSON text that may be null. */
export const decode = <T>(column: string | null): T | null => (column === null ? null : (JSON.parse(column) as T));

/** The value of a column of JSON text that is never null. */
export const decoded = <T>(column: string): T => JSON.parse(column) as T;
