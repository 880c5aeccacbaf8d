import pg from "pg";
import { Unavailable } from "#events/ports.ts";

/** A projection could not make sense of an event, or made changes that fit no table. */
export class Unprojectable extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = "Unprojectable";
  }
}

/** A projection names a table or column that is not there: no event's fault. */
export class Misfit extends Error {}

/** Cardinality violation, data exception, integrity violation, program limit (an index row too large). */
const OF_THE_DATA = /^(21|22|23|54)/;
/** Connection exception, operator intervention (shutdown, statement timeout). */
const OF_THE_CONNECTION = /^(08|57)/;

/** The same event would fail again, and others would not. */
export const blamesEvent = (error: unknown): error is Error =>
  error instanceof Unprojectable || (error instanceof pg.DatabaseError && OF_THE_DATA.test(error.code ?? ""));

/** The server answered and said no: trying on another connection would not help. */
export const isAnswer = (error: unknown): boolean =>
  error instanceof Misfit || (error instanceof pg.DatabaseError && !OF_THE_CONNECTION.test(error.code ?? ""));

/** No resources, conflicts between transactions, locks, the system below: the same may work a moment later. */
const OF_THE_MOMENT = /^(08|40|53|55|57|58)/;

/** The database cannot be asked now: Unavailable in its place; any other error as it is. */
export function unavailable(error: unknown): unknown {
  const answered = error instanceof pg.DatabaseError && !OF_THE_MOMENT.test(error.code ?? "");
  return answered ? error : new Unavailable("The database cannot be reached.", { cause: error });
}

/** Says of a fault in the plan whose it is: the event's, unless tables are missing. */
export function planned<T>(plan: () => T): T {
  try {
    return plan();
  } catch (cause) {
    throw cause instanceof Misfit ? cause : new Unprojectable(cause);
  }
}
