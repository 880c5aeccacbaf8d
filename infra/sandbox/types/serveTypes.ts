import { endWithParent } from "../../processes/endWithParent.ts";
import { findTypeFaults } from "./findTypeFaults.ts";
import type { TypesOrder, TypesReport } from "./messages.ts";

function check({ id, script }: TypesOrder): TypesReport {
  try {
    return { id, faults: findTypeFaults(script) };
  } catch (error) {
    // usually a stack overflow: code can be nested deeper than the compiler supports
    return { id, error: (error as Error).message };
  }
}

/** Checks the types of one script after another until the parent disconnects or dies. Executes none of them. */
export function serveTypes(): void {
  endWithParent();
  process.on("message", (order: TypesOrder) => process.send?.(check(order)));
}
