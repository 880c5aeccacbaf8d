import { endWithParent } from "../../processes/endWithParent.ts";
import { findTypeFaults } from "./findTypeFaults.ts";
import type { TypesOrder, TypesReport } from "./messages.ts";

function check({ id, script }: TypesOrder): TypesReport {
  try {
    return { id, faults: findTypeFaults(script) };
  } catch (error) {
    // mostly a stack that overflows: code can nest deeper than the compiler follows
    return { id, error: (error as Error).message };
  }
}

/** Checks the types of one script after another, until the parent ends the connection or dies. Nothing of them is executed. */
export function serveTypes(): void {
  endWithParent();
  process.on("message", (order: TypesOrder) => process.send?.(check(order)));
}
