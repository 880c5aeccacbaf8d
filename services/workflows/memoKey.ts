import { createHash } from "node:crypto";

/** What `run()` may ask for: a step, an item of several, a person's approval, time to pass, a value that stays as it is. */
export type CallKind = "step" | "many-item" | "approval" | "timer" | "value";

/** As many characters of the digest tell calls apart: 132 bits. */
const LENGTH = 22;
/** Part of every key: another way of making keys would count from 2. */
const VERSION = 1;

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** JSON with the names of every object in the order of their UTF-16 units and nothing between its parts (RFC 8785). */
export function canonical(value: Json): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  const members = Object.keys(value)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name]!)}`);
  return `{${members.join(",")}}`;
}

/**
 * What a call of `run()` is known by, whenever and wherever it stands: its kind, its name, the key that its author gave it and
 * the structure of its arguments. `args` is JSON.
 */
export function memoKey(kind: CallKind, name: string, userKey: string | null, args: string): string {
  const call = JSON.stringify([VERSION, kind, name, userKey]);
  return createHash("sha256")
    .update(`${call}\n${canonical(JSON.parse(args) as Json)}`)
    .digest("base64url")
    .slice(0, LENGTH);
}
