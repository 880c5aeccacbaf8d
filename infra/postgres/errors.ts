import pg from "pg";
import { Unavailable } from "#events/ports.ts";

/** A projection failed on an event, or made changes that do not fit its tables. */
export class Unprojectable extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = "Unprojectable";
  }
}

/** A projection names a table or column that does not exist, which is no event's fault. */
export class SchemaMismatch extends Error {}

/** SQLSTATE classes: cardinality violation, data exception, integrity violation, program limit (an index row too large). */
const DATA_ERRORS = /^(21|22|23|54)/;
/** SQLSTATE classes: connection exception, operator intervention (shutdown, statement timeout). */
const CONNECTION_ERRORS = /^(08|57)/;
/**
 * Like CONNECTION_ERRORS, plus read-only server, changed password, transaction conflict, insufficient resources, lock not
 * available, system error: a retry may succeed.
 */
const TRANSIENT_ERRORS = /^(08|25006|28|40|53|55|57|58)/;
const REASONS: Record<string, string> = {
  "25006": "The database is read-only.",
  "28000": "The database refuses the user.",
  "28P01": "The database refuses the password.",
  "53100": "The disk of the database is full.",
};

/** Whether the same event would fail again while others would not. */
export const isEventFault = (error: unknown): error is Error =>
  error instanceof Unprojectable || (error instanceof pg.DatabaseError && DATA_ERRORS.test(error.code ?? ""));

/** Whether the server itself refused, so that another connection would not help. */
export const isServerRefusal = (error: unknown): boolean =>
  error instanceof SchemaMismatch || (error instanceof pg.DatabaseError && !CONNECTION_ERRORS.test(error.code ?? ""));

/** PostgreSQL reports "insufficient privilege" for a missing right, and also for a file on a disk that the kernel made read-only. */
const isReadOnlyDisk = ({ code, message }: pg.DatabaseError): boolean =>
  code === "42501" && message.startsWith("could not ");

/** Like TRANSIENT_ERRORS, without conflicts and canceled statements. */
const STORE_ERRORS = /^(08|25006|28|53|55000|57P|58)/;

/** Whether the database accepts no writes: no space, read-only, a disk error, or no connection. */
export const isStoreFault = (error: unknown): boolean =>
  !(error instanceof pg.DatabaseError) || isReadOnlyDisk(error) || STORE_ERRORS.test(error.code ?? "");

/** Undefined column, undefined table. */
const SCHEMA_ERRORS = /^42(703|P01)$/;

/** Converts errors that may be gone a moment later to Unavailable; returns others unchanged. */
export function asUnavailable(error: unknown): unknown {
  if (error instanceof Unavailable) return error;
  // while two releases run side by side, the read models have the shape of one of them
  if (error instanceof pg.DatabaseError && SCHEMA_ERRORS.test(error.code ?? ""))
    return new Unavailable("The read models are of another version of this program.", { cause: error });
  if (!(error instanceof pg.DatabaseError)) return new Unavailable("The database cannot be reached.", { cause: error });
  if (isReadOnlyDisk(error)) return new Unavailable("The disk of the database is read-only.", { cause: error });
  const { code = "" } = error;
  if (!TRANSIENT_ERRORS.test(code)) return error;
  return new Unavailable(REASONS[code] ?? `The database answers with the error ${code}.`, { cause: error });
}

/** Attributes an error in planning to the event, unless tables are missing. */
export function attributePlanError<T>(plan: () => T): T {
  try {
    return plan();
  } catch (cause) {
    throw cause instanceof SchemaMismatch ? cause : new Unprojectable(cause);
  }
}
