import { hash, randomUUID, randomUUIDv7 } from "node:crypto";

export const newId = (): string => randomUUIDv7();

/** When `newId` created an id, in epoch milliseconds. */
export const creationTime = (id: string): number => Number.parseInt(id.replace("-", "").slice(0, 12), 16);

/** 64 random hex digits. Node draws UUIDs from a pool, which costs a third of `randomBytes`. */
export const newCommandId = (): string => `${randomUUID()}${randomUUID()}`.replaceAll("-", "");

/** A UUID (version 8) that depends only on the parts, so that a repeated command addresses the same thing. */
export function deriveId(...parts: string[]): string {
  const bytes = hash("sha256", JSON.stringify(parts), "buffer").subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** A command id that depends only on the parts, so that a command that is sent again takes effect once. */
export const deriveCommandId = (...parts: (string | number)[]): string => hash("sha256", JSON.stringify(parts));

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
export const isUuid = (value: string): boolean => UUID.test(value);

export type Aggregate =
  | "organization"
  | "session"
  | "key"
  | "price"
  | "budget"
  | "provider"
  | "alias"
  | "file"
  | "group"
  | "thread"
  | "collection"
  | "document"
  | "source"
  | "extraction"
  | "erasure"
  | "retention"
  | "hold"
  | "agent"
  | "project"
  | "definition"
  | "secret"
  | "workflow"
  | "trigger"
  | "run"
  | "message"
  | "claim";

/** The name of a stream, or of an erasable thing: `<aggregate>-<uuid>`. */
export const streamName = (aggregate: Aggregate | "user" | "turn" | "credential", id: string): string =>
  `${aggregate}-${id}`;

/** The folder of a thing's blobs. `things` are the thing and what contains it: a turn lies below its thread. */
export const blobFolder = (organization_id: string, ...things: string[]): string =>
  [organization_id, ...things].join("/");

/** The aggregate and the id in a stream's name. */
export function parseStreamName(stream: string): { aggregate: string; id: string } {
  const dash = stream.indexOf("-");
  return { aggregate: stream.slice(0, dash), id: stream.slice(dash + 1) };
}

/** The stream that holds a unique name. It does not reveal the name. */
export const claimStream = (name: string): string => streamName("claim", deriveId("claim", name));

/** Public ids of a step and of an approval of a run; `key` is the call key within the run. */
export const stepId = (run_id: string, key: string): string => deriveId("step", run_id, key);
export const approvalId = (run_id: string, key: string): string => deriveId("approval", run_id, key);
/** The idempotency key that a step sends to other systems: all attempts at the step share it. */
export const idempotencyKey = (run_id: string, key: string): string => stepId(run_id, `idempotency ${key}`);
