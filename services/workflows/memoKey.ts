import { createHash } from "node:crypto";

/**
 * Kinds of calls of `run()`: a step, an item of runStepMany, an approval, a timer, a fixed value, a run to start, a run or an
 * event to wait for, a turn of an agent.
 */
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

/** Characters of the digest, 132 bits: enough to never meet a collision. */
const LENGTH = 22;
/** Part of every key, to be raised when keys are computed differently. */
const VERSION = 1;

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** Canonical JSON: names sorted by their UTF-16 units, no white space (RFC 8785). */
export function canonicalJson(value: Json): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const members = Object.keys(value)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name]!)}`);
  return `{${members.join(",")}}`;
}

/**
 * Identifies a call of `run()` on every tick, wherever it stands in the code: by its kind, its name, the key that its author
 * gave it and the structure of its arguments. `args` is JSON.
 */
export function memoKey(kind: CallKind, name: string, userKey: string | null, args: string): string {
  const call = JSON.stringify([VERSION, kind, name, userKey]);
  return createHash("sha256")
    .update(`${call}\n${canonicalJson(JSON.parse(args) as Json)}`)
    .digest("base64url")
    .slice(0, LENGTH);
}
