import { call, itemPath } from "./call.ts";
import type { RunStatus } from "./types.ts";

/* Checks a new source against stored runs. */

/** Runs per request, so that each request returns within a few seconds. */
const PAGE = 25;

interface Call {
  kind: string;
  name: string | null;
}
interface Place {
  line: number | null;
  column: number | null;
}
export interface Difference extends Place {
  reason: "arguments" | "call" | "missing" | "added" | "result" | "end";
  call: Call | null;
  recorded: Call | null;
  /** JSON pointers to the differences. */
  pointers: string[];
}
export type Outcome = "same" | "different" | "failed" | "unanswered";
export interface CheckedRun {
  run_id: string;
  status: RunStatus;
  definition_version: number;
  outcome: Outcome;
  difference: Difference | null;
  error: ({ code: string; message: string } & Place) | null;
}
export interface CheckedRuns extends Record<Outcome, number> {
  checked: number;
  data: CheckedRun[];
  next_cursor: string | null;
}

/** Replays the newest stored runs, or those after a cursor, with a source. */
export const checkRuns = (id: string, source: string, cursor: string | null, signal: AbortSignal) =>
  call<CheckedRuns>(`${itemPath("definitions", id)}/check-runs`, {
    method: "POST",
    body: { source, cursor, limit: PAGE },
    signal,
  });
