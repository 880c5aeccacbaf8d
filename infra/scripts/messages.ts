import type { ScriptType } from "#services/scripting/runner.ts";

/* What goes between this process, one that runs scripts, and the threads of that one. A run is known by its id. */

export type Order =
  | { kind: "inspect"; id: number; type: ScriptType; source: string }
  /** `input`: JSON of `{args, meta}`. */
  | { kind: "run"; id: number; js: string; input: string }
  /** The answer to what a script asked of its host; `text` is JSON, or why it failed. */
  | { kind: "answer"; id: number; ask: number; ok: boolean; text: string }
  | { kind: "cancel"; id: number };

export type Report =
  | { kind: "ask"; id: number; ask: number; what: "fetch" | "secret"; text: string }
  | { kind: "done"; id: number; json: string }
  /** `broken`: the thread that ran it is not to be used again. */
  | { kind: "failed"; id: number; message: string; line: number | null; column: number | null; broken: boolean };
