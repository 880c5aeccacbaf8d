import type { CallAnswer } from "#events/inheritedCalls.ts";

/* The port that replays stored runs with another source. infra/sandbox implements it. */

/** A call that `run()` made. */
export interface RecordedCall {
  key: string;
  /** `step`, `approval`, `timer`, `value` … */
  kind: string;
  name: string | null;
  /** JSON of a step's arguments or an approval's terms; null if not recorded. */
  args: string | null;
  /** Undefined for a call without an answer. */
  answer: CallAnswer | undefined;
}

/** `open`: the run is live, or was ended from outside. `key`: the step that failed; null if `run()` itself failed. */
export type RecordedEnd =
  | { type: "open" }
  | { type: "completed"; json: string }
  /** `json`: the arguments of the run that continues this one. */
  | { type: "continued"; json: string }
  | { type: "failed"; key: string | null; message: string };

export interface RecordedRun {
  /** The run id and the time that `run()` sees. */
  run_id: string;
  created_at: number;
  /** JSON. */
  args: string;
  headers: Record<string, string>;
  /** In the order in which `run()` made them. */
  calls: RecordedCall[];
  /** Keys of the answered calls, in the order of the answers. */
  answered: string[];
  end: RecordedEnd;
}

/** A call in a comparison. */
export interface ComparedCall {
  kind: string;
  name: string | null;
}

export interface Difference {
  /**
   * `arguments`: the same call has other arguments. `call`: another call is made instead. `missing`: a recorded call is not made.
   * `added`: there is an additional call. `result`: the result differs. `end`: the two runs end differently, or only one of them
   * ends.
   */
  reason: "arguments" | "call" | "missing" | "added" | "result" | "end";
  /** The call that the new source makes. */
  call: ComparedCall | null;
  recorded: ComparedCall | null;
  /** JSON pointers to the differences in the arguments or the result, at most five. */
  pointers: string[];
  /** Line of the call in the new source. */
  line: number | null;
  column: number | null;
}

/** How the run proceeds with the new source. */
export type Replay =
  | { outcome: "same" }
  /** `unanswered`: the run matches the whole record, and then needs an answer that was never recorded. */
  | { outcome: "different" | "unanswered"; difference: Difference }
  /** `run()` fails now, and did not fail in this way when it was recorded. */
  | { outcome: "failed"; error: { code: string; message: string; line: number | null; column: number | null } };

export interface RunReplayer {
  /**
   * Replays a run with the recorded answers. Has no effects and records nothing. `load` runs when it is this replay's turn, so
   * that few runs are in memory. Undefined if `load` finds nothing.
   */
  replay(
    organization_id: string,
    script: { js: string; ordered: boolean },
    load: () => Promise<RecordedRun | undefined>,
  ): Promise<Replay | undefined>;
}
