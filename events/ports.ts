import type { CommandResult, Command, RecordedEvent } from "./envelope.ts";
import type { KeyErasure, WorkStatus } from "./decider.ts";
import type { NewEvent } from "./define.ts";
import type { RejectionDetails } from "./rejection.ts";
import type { Citation, ToolCall } from "./thread.ts";
import type { TraceHeaders } from "./trace.ts";
import type { TurnEnd } from "./turnEnd.ts";

export type { TurnEnd } from "./turnEnd.ts";

/* The ports of the other rooms to the outside world. `infra/` implements them and `roles/` passes them in. */

/** All effects of one command, appended atomically. */
export interface AppendRequest {
  command: Pick<
    Command,
    "id" | "organization_id" | "principal" | "request_id" | "fingerprint" | "http" | "traceparent"
  >;
  /** In order. `version` is the expected version of the event in its stream. */
  events: { stream: string; version: number; event: NewEvent }[];
  /** The new head of each stream that gets events: its folded state and its open work. */
  heads: (WorkStatus & { stream: string; state: unknown; state_version: number })[];
  /** Set if the command was refused; then there are no events. */
  rejection?: RejectionDetails;
  /** Streams that were read for the decision: the append conflicts unless they still have these versions. */
  unchanged?: { stream: string; version: number }[];
  /** Wrapped data keys (base64) from the command, by thing. */
  keys: Record<string, string>;
  /** Things whose data keys are destroyed. */
  erase: Required<KeyErasure>;
  /** Ids of commands whose outcome is deleted, so that they may be tried again. */
  forget: string[];
}

export type AppendResult =
  | { kind: "committed"; first: number; last: number; at: Date }
  /** The command was handled before. */
  | { kind: "repeated"; outcome: CommandOutcome }
  /** Another writer has appended to a stream: load and decide again. */
  | { kind: "conflict" };

/** The stored result of a handled command. */
export interface CommandOutcome {
  position: number;
  fingerprint: string | null;
  rejection: RejectionDetails | null;
}

export interface StreamHead extends WorkStatus {
  stream: string;
  organization_id: string;
  version: number;
  state: unknown;
  state_version: number;
  /** Position of its newest event. */
  position: number;
}

/** An event without its personal fields. */
export type PublicEvent = Pick<RecordedEvent, "type" | "stream" | "organization_id" | "position"> &
  Pick<TraceHeaders, "traceparent"> & { data: any };

/** A public event as returned by a scan of the log; `recorded_at` is RFC 3339. */
export type ScannedEvent = PublicEvent & { version: number; recorded_at: string };

/** Consecutive events of a stream, and their size in the log in bytes. */
export interface StreamPage {
  events: RecordedEvent[];
  bytes: number;
}

/** The event log. It holds everything the service has acknowledged. */
export interface EventLog {
  append(append: AppendRequest): Promise<AppendResult>;
  /** Heads of the streams that exist. Concurrent calls share one query. */
  heads(streams: string[]): Promise<Map<string, StreamHead>>;
  /** The events of a stream in order, starting at a version. */
  read(stream: string, fromVersion?: number): Promise<RecordedEvent[]>;
  /** Reads the same events page by page, for readers that need not keep a long stream in memory. */
  pages(stream: string, fromVersion?: number): AsyncIterable<StreamPage>;
  /** The event of a stream with this version. Concurrent calls share one query. */
  event(stream: string, version: number): Promise<RecordedEvent | undefined>;
  /**
   * The newest events of some types before a version of a stream, in order. At most `limit`, and at most `bytes` of personal
   * fields, but always the newest.
   */
  readNewest(
    stream: string,
    query: { before: number; types: string[]; limit: number; bytes: number },
  ): Promise<RecordedEvent[]>;
  /** At most `limit` events after a position, in order. */
  follow(after: number, limit: number): Promise<RecordedEvent[]>;
  /**
   * Events of some types after a position, public fields only; with `organization` only its events. `seen` is the last position that
   * was examined.
   */
  scan(
    after: number,
    types: string[],
    limit: number,
    organization?: string,
  ): Promise<{ events: ScannedEvent[]; seen: number }>;
  /** Whether a process is alive: its last heartbeat is at most 10 s old, and it is connected to the database (heartbeat.ts). */
  isAlive(process: string): Promise<boolean>;
  /** Whether a process crashed or hangs: its heartbeat is overdue. A process that stops in order removes its heartbeat. */
  hasDied(process: string): Promise<boolean>;
  outcome(commandId: string, organization: string): Promise<CommandOutcome | undefined>;
  /**
   * Heads of streams with open work that no live worker holds or that is due. Also heads of work recorded as held by `worker`,
   * except the streams that it is `busy` with. At most `limit` per aggregate; organizations take turns, due work comes first, then
   * the oldest. Processes that wake for the same due time share the work: in its first second, only the process picked by a hash
   * finds it.
   */
  openWork(options: { worker: string; busy: string[]; now: Date; limit: number }): Promise<StreamHead[]>;
  /** The earliest due time of all streams that is not before `now`. */
  nextDue(now: Date): Promise<Date | undefined>;
}

/** The bus as http uses it. */
export interface CommandSender {
  /**
   * Resolves with the result, received on the command's answer subject or read from the log after a silence.
   * Throws Unavailable if the stream is full, or if no result arrived by the deadline (the outcome is then unknown).
   */
  send(command: Command): Promise<CommandResult>;
}

/** Whether this process may take work now. */
export interface Gate {
  isOpen(): boolean;
  /** Calls `listener` at each change. Returns a function that unsubscribes it. */
  onChange(listener: (isOpen: boolean) => void): () => void;
}

/**
 * The bus as the services use it: at-least-once delivery, acknowledged after the result is sent. While the gate is closed, the
 * process takes no messages, and unfinished ones are redelivered to other processes.
 */
export interface CommandSource {
  /** `problem`: why no command can take effect now, for health checks. */
  consume(
    handle: (command: Command) => Promise<CommandResult>,
    gate?: Gate,
    problem?: () => string | undefined,
  ): Promise<{ stop(): Promise<void> }>;
}

/** The service cannot handle this now. The caller may try again after `retry_after_ms`. */
export class Unavailable extends Error {
  readonly retry_after_ms: number;
  constructor(message: string, options: { retry_after_ms?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = "Unavailable";
    this.retry_after_ms = options.retry_after_ms ?? 1000;
  }
}

/** The disk cannot read or write content that a request or a turn needs: it is read-only, failing or gone. */
export class StorageUnavailable extends Unavailable {
  constructor(message: string, options: { retry_after_ms?: number; cause?: unknown } = {}) {
    super(message, options);
    this.name = "StorageUnavailable";
  }
}

/** The disk has no space for content that a request or a turn needs. */
export class StorageFull extends StorageUnavailable {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, { ...options, retry_after_ms: 10_000 });
    this.name = "StorageFull";
  }
}

/** Notifications between processes. Any of them may be lost: they only make readers of the database faster. */
export interface Hints {
  /** Events up to this position are committed. */
  announceCommitted(position: number): void;
  onCommitted(listener: (position: number) => void): () => void;
  /** A reader waits for the projections to pass this position. */
  requestProjected(position: number): void;
  onRequested(listener: (position: number) => void): () => void;
  /** A projection has passed this position. */
  announceProjected(projection: string, position: number): void;
  onProjected(listener: (projection: string, position: number) => void): () => void;
}

/**
 * A message of a running turn to its readers. `n` counts 0, 1, 2 … without gaps within an attempt. An attempt that takes the turn
 * over first repeats the output in the log. Its later frames have `is_new`.
 */
export type Frame = { attempt: number; n: number; is_new?: true } & (
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  | { type: "citations"; citations: Citation[] }
  /** The model or its provider refuses to answer. `text`: the whole refusal. */
  | { type: "refusal"; text: string }
  /** If the model of the turn is an alias: the target that answers. Sent before its output. Response streams leave it out. */
  | { type: "target"; model: string }
  /** A round is recorded, and its tool calls start now. */
  | { type: "calls"; calls: ToolCall[] }
  /** A call of the newest round has ended; `call` is its number. */
  | { type: "called"; call: number; status: "completed" | "failed" }
  /** The last frame: the event that ended the turn is committed at this position. */
  | { type: "end"; position: number; end: TurnEnd }
);

/** The content of a frame, without attempt and number. */
export type FramePayload = Frame extends infer F
  ? F extends { type: "end" }
    ? never
    : F extends Frame
      ? Omit<F, "attempt" | "n" | "is_new">
      : never
  : never;

/** `stopped`: the reader disconnected or cancelled the turn. `deleted`: its thread is being deleted. */
export type StopReason = "stopped" | "deleted";

/** Frames of running turns: delivered live, and retained for an hour for readers that missed some. */
export interface Frames {
  /** Sends a frame to every reader and retains it. */
  publish(organization: string, turn: string, frame: Frame): void;
  /** Sends a frame of a buffered turn to the one process that waits for it. It is not retained. */
  sendToWaiter(organization: string, turn: string, frame: Frame): void;
  /** Delivers every frame that is sent after this call. */
  subscribe(organization: string, turn: string, listener: (frame: Frame) => void): () => void;
  /** All retained frames of a turn, in order of publication. Throws Unavailable. */
  loadFrames(organization: string, turn: string): Promise<Frame[]>;
  /** Asks the worker of a turn to stop it. */
  requestStop(organization: string, turn: string, why?: StopReason): void;
  onStop(organization: string, turn: string, listener: (why: StopReason) => void): () => void;
}

/** Queue of events that need slow work. Each is delivered at least once. */
export interface Reactions {
  publish(event: ScannedEvent): Promise<void>;
  consume(react: (event: PublicEvent) => Promise<void>, gate?: Gate): Promise<{ stop(): Promise<void> }>;
}
