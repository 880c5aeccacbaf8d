import type { ScriptMeta } from "#events/definition.ts";

/* The port that checks scripts before they are stored. infra/sandbox implements it. */

/** A script that passed the check. */
export interface CheckedScript {
  /** The source without its types, with the same line numbers. */
  js: string;
  /** The name in the script's meta, if any. */
  name: string | undefined;
  meta: ScriptMeta;
}

/** The script is refused. `line` and `column` count from 1; null when the fault has no position. */
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
