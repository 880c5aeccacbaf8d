import type { ScriptMeta } from "#events/definition.ts";

/* The port to the checking of scripts before they are kept; infra/scripts implements it. */

/** A script that may be kept. */
export interface CheckedScript {
  /** What runs: the source without its types, line by line the same. */
  js: string;
  /** The name that the script gives itself, where it does. */
  name: string | undefined;
  meta: ScriptMeta;
}

/** The script cannot be kept; `line` and `column` count from 1, null where the fault has no place. */
export class InvalidScript extends Error {
  readonly line: number | null;
  readonly column: number | null;
  constructor(message: string, line: number | null = null, column: number | null = null) {
    super(message);
    this.name = "InvalidScript";
    this.line = line;
    this.column = column;
  }
}

export interface ScriptChecker {
  /** Compiles and looks at a TypeScript or JavaScript module, evaluating it where it can do no harm. Throws InvalidScript. */
  check(organization_id: string, type: "tool" | "workflow", source: string): Promise<CheckedScript>;
}
