import type { ScriptMeta } from "#events/definition.ts";

/* The port that checks scripts before they are stored. infra/sandbox implements it. */

/** A script that passed the checks. */
export interface CheckedScript {
  /** The source with its types removed. Line numbers are the same. */
  js: string;
  /** The name in the script's meta, if any. */
  name: string | undefined;
  meta: ScriptMeta;
}

/** Reports why a script is refused. `line` and `column` count from 1; null if the fault has no position. */
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
  /** Compiles a TypeScript or JavaScript module and evaluates it in the sandbox to read its meta. Throws InvalidScript. */
  check(organization_id: string, type: "tool" | "workflow", source: string): Promise<CheckedScript>;
}
