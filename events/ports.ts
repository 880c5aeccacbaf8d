import type { Answer, Command, Recorded } from "./envelope.ts";
import type { Erasure, Head } from "./decider.ts";
import type { NewEvent } from "./define.ts";
import type { RejectionDetails } from "./rejection.ts";
import type { Citation, FinishReason, Said, ToolCall, Usage } from "./thread.ts";
import type { Traced } from "./trace.ts";

/* What the rooms need of the outside world. `infra/` implements these and `main.ts` hands them over. */

/** One command's effect, to be written whole or not at all. */
export interface Append {
  command: Pick<
    Command,
    "id" | "organization_id" | "principal" | "request_id" | "fingerprint" | "http" | "traceparent"
  >;
  /** In order; `version` is the one each event shall have in its stream. */
  events: { stream: string; version: number; event: NewEvent }[];
  /** The new head of each stream that got events: folded state, what the sweep sees. */
  heads: (Head & { stream: string; state: unknown; state_version: number })[];
  /** The outcome where the command was refused; then there are no events. */
  rejection?: RejectionDetails;
  /** Wrapped data keys (base64), by thing, that came with the command. */
  keys: Record<string, string>;
  /** Things whose data keys end with these events. */
  erase: Required<Erasure>;
  /** Commands whose outcome is forgotten, so that they may be tried again. */
  forget: string[];
}

export type Appended =
  | { kind: "committed"; first: number; last: number; at: Date }
  /** The command had been answered before. */
  | { kind: "repeated"; outcome: Outcome }
  /** A stream had moved on: load and decide again. */
  | { kind: "conflict" };

/** The row that every answered command leaves behind. */
export interface Outcome {
  position: number;
  fingerprint: string | null;
  rejection: RejectionDetails | null;
}

/** The head row of a stream. */
export interface StreamHead extends Head {
  stream: string;
  organization_id: string;
  version: number;
  state: unknown;
  state_version: number;
  /** Position of its newest event. */
  position: number;
}

/** An event without its personal fields. */
export type PublicEvent = Pick<Recorded, "type" | "stream" | "organization_id" | "position"> &
  Pick<Traced, "traceparent"> & { data: any };

/** As it is found in the log; `recorded_at` is RFC 3339. */
export type ScannedEvent = PublicEvent & { version: number; recorded_at: string };

/** The event log. Everything that is acknowledged is in it. */
export interface EventLog {
  append(append: Append): Promise<Appended>;
  /** Heads of those streams that exist; calls made at the same time share one query. */
  heads(streams: string[]): Promise<Map<string, StreamHead>>;
  /** A stream's events in order, from a version on. */
  read(stream: string, fromVersion?: number): Promise<Recorded[]>;
  /** At most `limit` events after a position, in order. */
  follow(after: number, limit: number): Promise<Recorded[]>;
  /** Public fields of the events of some types after a position, and up to where it has looked. */
  scan(after: number, types: string[], limit: number): Promise<{ events: ScannedEvent[]; seen: number }>;
  /** Whether a process lives: it has beaten within 10 s, and its connections stand (a young database has seen none yet). */
  alive(process: string): Promise<boolean>;
  outcome(commandId: string, organization: string): Promise<Outcome | undefined>;
  /**
   * Heads with open work whose worker is gone, that nobody holds, or whose time is up, and those that `worker` holds, less the
   * streams that it is busy with; at most `limit` of each aggregate, by turns of each organization, what is due first, then the oldest.
   */
  openWork(options: { worker: string; busy: string[]; now: Date; limit: number }): Promise<StreamHead[]>;
}

/** An organization's slice of the log. */
export interface AuditLog {
  /**
   * At most `limit` of its events after a position, in order; of one stream, or of some types, where those are named. Fewer
   * where they are large; `more` says whether others follow.
   */
  slice(
    organization: string,
    asked: { after: number; stream: string | undefined; types: string[] | undefined; limit: number },
  ): Promise<{ events: Recorded[]; more: boolean }>;
}

/** Sealing with the data key of a thing that can be erased; keys are wrapped with the deployment's master key. */
export interface Keyring {
  /** A new data key, wrapped (base64). */
  create(thing: string): string;
  seal(thing: string, wrapped: string, plain: Uint8Array): Buffer;
  /** Throws when the bytes were altered or belong to another thing. */
  open(thing: string, wrapped: string, sealed: Uint8Array): Buffer;
  /** Does what `seal` does in slices, between which others run: for what may be more than some megabytes. `plain` must stay as it is. */
  sealLarge(thing: string, wrapped: string, plain: Uint8Array): Promise<Buffer>;
  openLarge(thing: string, wrapped: string, sealed: Uint8Array): Promise<Buffer>;
  /** Seals a secret with the master key itself (base64), bound to a purpose. */
  /** The same opaque mark for the same words, which does not tell them: what has to be unique is known by it. */
  mark(purpose: string, words: string): string;
  sealSecret(purpose: string, secret: string): string;
  openSecret(purpose: string, sealed: string): string;
}

/** Wrapped data keys of things that are in the log, by thing; absent when erased. */
export interface DataKeys {
  find(things: string[]): Promise<Map<string, string>>;
}

/** Sealed bytes that are too large for an event. A blob belongs to one thing and is never shared. */
export interface Blobs {
  /** Durable (fsync, rename, fsync of the folder) when it resolves; the key is `<folder>/<uuid>`. */
  put(folder: string, sealed: Uint8Array): Promise<string>;
  /** Undefined when it is gone. */
  get(key: string): Promise<Buffer | undefined>;
  /** Removes one blob, if it is there. */
  remove(key: string): Promise<void>;
  /** Removes every blob below a folder. */
  removeAll(folder: string): Promise<void>;
  /** Folders that hold blobs, where the newest is older than `age_ms`; the last part of each names its thing. */
  foldersOlderThan(age_ms: number): AsyncIterable<string>;
}

/** http's side of the bus. */
export interface CommandSender {
  /**
   * Resolves with the command's outcome: heard on its answer subject, or read from the log after a silence.
   * Throws Unavailable when the stream is full or nothing answered by the command's deadline (then: unknown).
   */
  send(command: Command): Promise<Answer>;
}

/** The services' side of the bus: each command is handled at least once, and acknowledged after its answer. */
export interface CommandSource {
  consume(handle: (command: Command) => Promise<Answer>): Promise<{ stop(): Promise<void> }>;
}

/** The service cannot take this now; the caller may try again after `retry_after_ms`. */
export class Unavailable extends Error {
  readonly retry_after_ms: number;
  constructor(message: string, options: { retry_after_ms?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = "Unavailable";
    this.retry_after_ms = options.retry_after_ms ?? 1000;
  }
}

/** Hints that travel outside the log: each may be lost, none is a truth. */
export interface Hints {
  /** Events up to this position are committed. */
  committed(position: number): void;
  onCommitted(listener: (position: number) => void): () => void;
  /** Somebody waits for the projections to pass this position. */
  wanted(position: number): void;
  onWanted(listener: (position: number) => void): () => void;
  /** A projection has passed this position. */
  projected(projection: string, position: number): void;
  onProjected(listener: (projection: string, position: number) => void): () => void;
}

/** What a turn says while it runs. `n` counts 0, 1, 2 … without a gap within an attempt. */
export type Frame = { attempt: number; n: number } & (
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  | { type: "citations"; citations: Citation[] }
  /** A round is recorded, and its tools are called now. */
  | { type: "calls"; calls: ToolCall[] }
  /** A call of the newest round has ended, by its number. */
  | { type: "called"; call: number; status: "completed" | "failed" }
  /** The last frame: the event that ended the turn is committed at this position. */
  | { type: "end"; position: number; end: TurnEnd }
);

/** A piece of what a turn says, whenever and by whichever attempt. */
export type Speaking = Frame extends infer F
  ? F extends { type: "end" }
    ? never
    : F extends Frame
      ? Omit<F, "attempt" | "n">
      : never
  : never;

/** How a turn ended, as its last frame tells it. */
export type TurnEnd =
  | { status: "completed"; said: Said; finish_reason: FinishReason; usage: Usage }
  | { status: "failed" | "stopped"; said: Said; message: string; usage: Usage }
  | { status: "refused"; code: string | null; message: string };

/** Its reader went away or cancelled it, or its thread is about to be deleted. */
export type StopReason = "stopped" | "deleted";

/** Frames of running turns: live on core NATS, and kept for an hour for those who missed some. */
export interface Frames {
  /** To every reader, and kept. */
  publish(organization: string, turn: string, frame: Frame): void;
  /** To the one process that waits for a turn that nobody reads along. */
  tell(organization: string, turn: string, frame: Frame): void;
  /** Live frames, from before anything that is sent after this. */
  subscribe(organization: string, turn: string, listener: (frame: Frame) => void): () => void;
  /** Every kept frame of a turn, in order of publication. Throws Unavailable. */
  kept(organization: string, turn: string): Promise<Frame[]>;
  /** Asks the worker of a turn to stop it. */
  stop(organization: string, turn: string, why?: StopReason): void;
  onStop(organization: string, turn: string, listener: (why: StopReason) => void): () => void;
}

/** Wake-ups for slow work: told at least once that an event calls for it. */
export interface Reactions {
  publish(event: ScannedEvent): Promise<void>;
  consume(react: (event: PublicEvent) => Promise<void>): Promise<{ stop(): Promise<void> }>;
}
