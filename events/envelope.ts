import type { NewEvent, CommandDefinition } from "./define.ts";
import type { RejectionDetails } from "./rejection.ts";
import type { Traced } from "./trace.ts";

/** Who asks: `key:<id>`, `person:<id>`, `webhook:<id of the trigger>`, or `system` for the service's own work. It scopes threads and files. */
export type Principal = `key:${string}` | `person:${string}` | `webhook:${string}` | "system";

/** What is asked, as it travels on the bus. At most 256 KiB encoded; what is larger goes to a blob first. */
export interface Command<T extends string = string, D = any> extends Traced {
  /** 64 hex digits; decides what counts as the same command (one effect per id). */
  id: string;
  type: T;
  /** The stream it is for: `<aggregate>-<uuid>`. */
  stream: string;
  organization_id: string;
  principal: Principal;
  /** When it was asked, RFC 3339: deciders know no other clock. */
  at: string;
  /** Until when it may be tried, RFC 3339. */
  deadline: string;
  /** The x-request-id of the request it came with. */
  request_id: string;
  data: D;
  /** The stream was named just now, so there is nothing to load. */
  fresh?: boolean;
  /** Data keys (wrapped, base64) of things that http has already written blobs for, by thing. */
  keys?: Record<string, string>;
  /** SHA-256 of what was sent; a second command with the same id must have the same. */
  fingerprint?: string;
  /** The worker process that handles it and has room to do the work it starts; set by that process. */
  worker?: string;
  /** The http process that waits for the answer. */
  http?: string;
}

export type CommandFrom<Definition> = Definition extends CommandDefinition<infer T, infer D> ? Command<T, D> : never;

/** An event in the log, as every reader gets it: newest shape, personal fields opened. */
export interface Recorded<E extends NewEvent = NewEvent> {
  /** 1, 2, 3 … over the whole log, gap-free, in commit order. */
  position: number;
  stream: string;
  /** 1, 2, 3 … within its stream. */
  version: number;
  organization_id: string;
  type: E["type"];
  data: E["data"];
  /** Undefined when the event has none, or when the thing they belonged to was erased. */
  personal: E["personal"];
  command_id: string;
  recorded_at: Date;
  /** `traceparent`: of the work that it came from; of older events, and of work that nobody asked for, there is none. */
  meta: { principal: Principal; request_id: string } & Pick<Traced, "traceparent">;
}

/** What became of a command. `repeated`: it had been answered before, and nothing happened now. */
export interface Answer {
  /** Position of its last event; 0 when it led to none. */
  position: number;
  repeated: boolean;
  rejection?: RejectionDetails & { retryable?: boolean };
}
