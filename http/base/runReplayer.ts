import type { CallAnswer } from "#events/inheritedCalls.ts";

/* The port that replays stored runs with another source. infra/sandbox implements it. */

/** A call that `run()` made. */
export interface RecordedCall {
  key: string;
  /** `step`, `approval`, `timer`, `value` … */
  kind: string;
  name: string | null;
  /** JSON of the arguments of a step, or of the terms of an approval; null where they are not recorded. */
  args: string | null;
  /** Undefined for a call without an answer. */
  answer: CallAnswer | undefined;
}

/** `open`: it is live, or was ended from outside. `key`: the step that failed; null when `run()` failed itself. */
export type RecordedEnd =
  | { type: "open" }
  | { type: "completed"; json: string }
  /** `json`: the arguments of the run that continues it. */
  | { type: "continued"; json: string }
  | { type: "failed"; key: string | null; message: string };

export interface RecordedRun {
  /** The id and the time that `run()` sees. */
  run_id: string;
  created_at: number;
  /** JSON. */
  args: string;
  headers: Record<string, string>;
  /** In the order in which `run()` made them. */
  calls: RecordedCall[];
  /** Keys of the calls with an answer, in the order of the answers. */
  answered: string[];
  end: RecordedEnd;
}

/** A call as a comparison names it. */
export interface ComparedCall {
  kind: string;
  name: string | null;
}

export interface Difference {
  /**
   * `arguments`: a recorded call is made with other arguments. `call`: another call is made instead. `missing`: a recorded call is
   * not made. `added`: a call that was never recorded follows. `result`: the result is another. `end`: one of them waits, or fails,
   * where the other ends.
   */
  reason: "arguments" | "call" | "missing" | "added" | "result" | "end";
  /** The call of the new source. */
  call: ComparedCall | null;
  /** The call of the record. */
  recorded: ComparedCall | null;
  /** JSON pointers to what differs in the arguments, or in the result; five at most. */
  pointers: string[];
  /** Of the call, in the new source. */
  line: number | null;
  column: number | null;
}

/** How a run goes with another source. */
export type Replay =
  | { outcome: "same" }
  /** `unanswered`: it goes the same way to the end of the record, and then needs an answer that was never recorded. */
  | { outcome: "different" | "unanswered"; difference: Difference }
  /** `run()` fails, and did not fail so when it was recorded. */
  | { outcome: "failed"; error: { code: string; message: string; line: number | null; column: number | null } };

export interface RunReplayer {
  /**
   * Replays a run with the recorded answers: nothing takes effect, nothing is recorded. `load` is called in turn, so that few runs are
   * in memory. Undefined when `load` finds nothing.
   */
  replay(
    organization_id: string,
    script: { js: string; ordered: boolean },
    load: () => Promise<RecordedRun | undefined>,
  ): Promise<Replay | undefined>;
}
