import type { CallAnswer } from "#events/inheritedCalls.ts";
import type { MemoEntry } from "#services/workflows/tick.ts";
import type { Answerer, LocalCall, LocalObserver, Place } from "./localCalls.ts";
import type { LocalSandbox, LocalScript } from "./loadScript.ts";

export interface LocalRun {
  script: LocalScript;
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
  run_id: string;
  memo: MemoEntry[];
  created_at: number;
  /** Epoch milliseconds: waiting moves it. */
  time: number;
  /** Number of log lines that were shown. */
  logged: number;
  /** Of the calls of the last tick, by key. */
  places: Map<string, Place>;
  /** Names of the workflows of started runs, by run. */
  children: Map<string, string>;
  /** When each timer and timeout is due, in epoch milliseconds: fixed when it is asked for first. */
  due: Map<string, number>;
  /** Keys of the approvals that nobody decides, and of the events that nobody sends. */
  left: Set<string>;
}

export const placeOf = ({ places }: RunState, key: string): Place => places.get(key) ?? NO_PLACE;

export function answer({ memo, observer }: RunState, call: LocalCall, key: string, value: CallAnswer): void {
  memo.push({ key, value });
  observer.onAnswer(call, value);
}
