import pg from "pg";

/** A projection could not make sense of an event, or made changes that fit no table. */
export class Unprojectable extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = "Unprojectable";
  }
}

/** Cardinality violation, data exception, integrity violation, program limit (an index row too large). */
const OF_THE_DATA = /^(21|22|23|54)/;
/** Connection exception, operator intervention (shutdown, statement timeout). */
const OF_THE_CONNECTION = /^(08|57)/;

/** The same event would fail again, and others would not. */
export const blamesEvent = (error: unknown): error is Error =>
  error instanceof Unprojectable || (error instanceof pg.DatabaseError && OF_THE_DATA.test(error.code ?? ""));

/** The server answered and said no: trying on another connection would not help. */
export const isAnswer = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && !OF_THE_CONNECTION.test(error.code ?? "");
