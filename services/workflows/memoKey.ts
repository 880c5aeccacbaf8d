import { createHash } from "node:crypto";
import { canonicalJson, type Json } from "#events/canonicalJson.ts";

/** Kinds of calls of `run()`: step, item of runStepMany, approval, timer, fixed value, child run, wait for a run or an event, agent turn. */
export type CallKind =
  | "step"
  | "many-item"
  | "approval"
  | "timer"
  | "value"
  | "child-run"
  | "run-wait"
  | "message-wait"
  | "agent";

/** Characters of the digest, 132 bits, so that collisions never happen in practice. */
const LENGTH = 22;
/** Part of every key. Raise it when the computation of keys changes. */
const VERSION = 1;

/**
 * Identifies a call of `run()` on every tick, independent of its place in the code: by kind, name, the author's key and the
 * structure of the arguments. `args` is JSON.
 */
export function memoKey(kind: CallKind, name: string, userKey: string | null, args: string): string {
  const call = JSON.stringify([VERSION, kind, name, userKey]);
  return createHash("sha256")
    .update(`${call}\n${canonicalJson(JSON.parse(args) as Json)}`)
    .digest("base64url")
    .slice(0, LENGTH);
}
