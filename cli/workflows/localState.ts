import type { CallAnswer } from "#events/inheritedCalls.ts";
import type { MemoEntry } from "#services/workflows/tick.ts";
import type { ApprovalAnswer } from "./answers.ts";
import type { Answerer, LocalCall, LocalEnd, LocalObserver, Place } from "./localCalls.ts";
import type { LocalSandbox, LocalScript } from "./loadScript.ts";

export interface LocalRun {
  script: LocalScript;
  run_id: string;
  /** JSON. */
  args: string;
  headers: Record<string, string>;
  /** RFC 3339. */
  now: string;
  answerer: Answerer;
  observer: LocalObserver;
}

const NO_PLACE: Place = { line: null, column: null };
export interface RunState extends LocalRun {
  runner: LocalSandbox["runner"];
  memo: MemoEntry[];
  created_at: number;
  /** Simulated time in epoch milliseconds; waiting advances it. */
  time: number;
  /** Number of log lines shown so far. */
  logged: number;
  /** Places of the last tick's calls, by key. */
  places: Map<string, Place>;
  /** Workflow names of started runs, by run id. */
  children: Map<string, string>;
  /** When each timer, timeout and expiry is due, in epoch milliseconds: fixed when it is first requested. */
  due: Map<string, number>;
  /** By key: the answers of approvals that expire. */
  expiring: Map<string, ApprovalAnswer>;
  /** Keys of approvals that nobody decides, and of events that nobody sends. */
  left: Set<string>;
}

export const placeOf = ({ places }: RunState, key: string): Place => places.get(key) ?? NO_PLACE;

export function recordAnswer({ memo, observer }: RunState, call: LocalCall, key: string, value: CallAnswer): void {
  memo.push({ key, value });
  observer.onAnswer(call, value);
}

export const failedAt = (code: string, message: string, step: string | null, at: Place): LocalEnd => ({
  type: "failed",
  code,
  message,
  step,
  at,
});
