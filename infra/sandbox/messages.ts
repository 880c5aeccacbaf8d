import type { ScriptType } from "#services/scripting/runner.ts";

/* Messages between this process, a process that runs scripts, and the threads of that process. `id` identifies a script run. */

/** To a thread: a script to run or to inspect. */
export type ScriptOrder =
  | { kind: "inspect"; id: number; type: ScriptType; source: string }
  /** `input`: JSON of `{args, meta}`. */
  | { kind: "run"; id: number; js: string; input: string };

/** To a thread. */
export type Order =
  | ScriptOrder
  /** The answer to a request of the script. `text`: JSON, or the error message. */
  | { kind: "answer"; id: number; request: number; ok: boolean; text: string }
  | { kind: "cancel"; id: number };

/** From a thread. */
export type Report =
  | { kind: "request"; id: number; request: number; what: "fetch" | "secret"; text: string }
  | { kind: "done"; id: number; json: string }
  /** `broken`: the thread itself failed, not only its script, and must be ended. */
  | { kind: "failed"; id: number; message: string; line: number | null; column: number | null; broken: boolean };
