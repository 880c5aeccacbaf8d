import type { TypedScript, TypeFault } from "#http/base/typeChecker.ts";

/* Messages between this process and a process that checks types. */

export interface TypesOrder {
  id: number;
  script: TypedScript;
}

export type TypesReport = { id: number; faults: TypeFault[] } | { id: number; error: string };
