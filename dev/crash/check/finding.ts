import type { Operation } from "../journal.ts";

/** A violation of a promise. */
export interface Finding {
  kind: "lost" | "doubled" | "stuck" | "different";
  /** The invariant of docs/reliability.md. */
  rule: string;
  /** The operation, stream, table or file concerned. */
  about: string;
  what: string;
}

const of =
  (kind: Finding["kind"]) =>
  (rule: string, about: string | Pick<Operation, "what" | "id">, what: string): Finding => ({
    kind,
    rule,
    about: typeof about === "string" ? about : `${about.what} ${about.id}`,
    what,
  });

export const lost = of("lost");
export const doubled = of("doubled");
export const stuck = of("stuck");
export const different = of("different");
