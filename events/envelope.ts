import { currentTime } from "./clock.ts";
import type { NewEvent, CommandDefinition } from "./define.ts";
import { newCommandId } from "./ids.ts";
import type { RejectionDetails } from "./rejection.ts";
import type { TraceHeaders } from "./trace.ts";

/** The caller: `key:<id>`, `person:<id>`, `webhook:<id of the trigger>`, `link:<id of the link to an approval>`, or `system` for the service's own work. It scopes threads and files. */
export type Principal = `key:${string}` | `person:${string}` | `webhook:${string}` | `link:${string}` | "system";

/** A command as it travels on the bus: at most 256 KiB encoded. Larger content is written to a blob first. */
export interface Command<T extends string = string, D = any> extends TraceHeaders {
  /** 64 hex digits. A second command with the same id has no effect. */
  id: string;
  type: T;
  /** The stream it is for: `<aggregate>-<uuid>`. */
  stream: string;
  organization_id: string;
  principal: Principal;
  /** RFC 3339 time of the request. Deciders use no other clock. */
  at: string;
  /** RFC 3339: no attempt starts after this. */
  deadline: string;
  /** The x-request-id of the HTTP request. */
  request_id: string;
  data: D;
  /** The id of the stream is new, so there is no state to load. */
  fresh?: boolean;
  /** Wrapped data keys (base64), by thing: the sender has already sealed blobs with them. */
  keys?: Record<string, string>;
  /** SHA-256 of the request body. A second command with the same id must have the same fingerprint. */
  fingerprint?: string;
  /** The worker process that handles the command, if it has capacity for the work the command starts. That process sets it. */
  worker?: string;
  /** The http process that waits for the result. */
  http?: string;
  /** Milliseconds that its client had waited when the command was made. The client's 503 is due within 5 s of its request. */
  waited_ms?: number;
  /**
   * Commands to other streams that take effect in the commit of this one, in order. If one of them has no effect, none has, and the
   * rejection is `joined_command_refused`. They may claim nothing, and destroy only what no hold covers (`erasesWhenJoined`).
   */
  joined?: Command[];
}

type CommandFields<D> = Pick<Command<string, D>, "stream" | "organization_id" | "request_id" | "data"> &
  Partial<Pick<Command, "id" | "principal" | "fresh" | "fingerprint" | "keys" | "http" | "waited_ms" | "joined">> & {
    /** Milliseconds from now to the deadline. */
    timeout_ms: number;
  };

/** A command of this moment. Without an id it gets a random one, without a principal it comes from the service itself. */
export function newCommand<T extends string, D>(type: T, { timeout_ms, ...fields }: CommandFields<D>): Command<T, D> {
  const now = currentTime();
  return {
    ...fields,
    id: fields.id ?? newCommandId(),
    type,
    principal: fields.principal ?? "system",
    at: new Date(now).toISOString(),
    deadline: new Date(now + timeout_ms).toISOString(),
  };
}

export type CommandFrom<Definition> = Definition extends CommandDefinition<infer T, infer D> ? Command<T, D> : never;

/** Union of the commands that a module exports: `CommandsIn<typeof import("./agent.ts")>`. */
export type CommandsIn<Module> = { [Name in keyof Module]: CommandFrom<Module[Name]> }[keyof Module];

/** An event in the log, as readers receive it: upcast to the newest shape, personal fields opened. */
export interface RecordedEvent<E extends NewEvent = NewEvent> {
  /** 1, 2, 3 … in the whole log, without gaps, in commit order. */
  position: number;
  stream: string;
  /** 1, 2, 3 … within its stream. */
  version: number;
  organization_id: string;
  type: E["type"];
  data: E["data"];
  /** Undefined if the event type has none, or if the thing that owned them was erased. */
  personal: E["personal"];
  command_id: string;
  recorded_at: Date;
  /** `traceparent` names the trace of the work that appended the event. Old events and work without a request have none. */
  meta: { principal: Principal; request_id: string } & Pick<TraceHeaders, "traceparent">;
}

/** The result of a command. `repeated`: the command was already handled, and this time it had no effect. */
export interface CommandResult {
  /** Position of its last event; 0 if it appended none. */
  position: number;
  repeated: boolean;
  rejection?: RejectionDetails & { retryable?: boolean };
}
