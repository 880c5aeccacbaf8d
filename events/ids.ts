import { createHash, randomUUID, randomUUIDv7 } from "node:crypto";

export const newId = (): string => randomUUIDv7();

/** When an id of `newId` was made, in epoch milliseconds. */
export const bornAt = (id: string): number => Number.parseInt(id.replace("-", "").slice(0, 12), 16);

/** 64 hex digits; a command without an idempotency key is like no other. Node draws UUIDs from a pool, a third of randomBytes' cost. */
export const newCommandId = (): string => `${randomUUID()}${randomUUID()}`.replaceAll("-", "");

/** The same UUID (version 8) for the same parts, so that a repeated command names the same thing. */
export function idFrom(...parts: string[]): string {
  const bytes = createHash("sha256").update(JSON.stringify(parts)).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
export const isUuid = (value: string): boolean => UUID.test(value);

export type Aggregate =
  | "organization"
  | "session"
  | "key"
  | "provider"
  | "file"
  | "thread"
  | "collection"
  | "document"
  | "extraction"
  | "agent"
  | "project"
  | "definition"
  | "secret"
  | "workflow"
  | "trigger"
  | "run"
  | "claim";

/** The name of a stream, or of an erasable thing: `<aggregate>-<uuid>`. */
export const streamOf = (aggregate: Aggregate | "user" | "turn" | "credential", id: string): string =>
  `${aggregate}-${id}`;

/** The aggregate and the id in a stream's name. */
export function partsOf(stream: string): { aggregate: string; id: string } {
  const dash = stream.indexOf("-");
  return { aggregate: stream.slice(0, dash), id: stream.slice(dash + 1) };
}

/** The stream in which a unique name is held; the name itself does not show. */
export const claimStream = (name: string): string => streamOf("claim", idFrom("claim", name));

/** What a step, or an approval, of a run is known by outside; `key` is that of the call of `run()`. */
export const stepId = (run_id: string, key: string): string => idFrom("step", run_id, key);
export const approvalId = (run_id: string, key: string): string => idFrom("approval", run_id, key);
/** What a step is known by where it has effects: the same for every attempt. */
export const idempotencyKey = (run_id: string, key: string): string => stepId(run_id, `idempotency ${key}`);
