import type { ProviderFormat } from "#events/provider.ts";
import type { Citation, FinishReason, ResponseFormat, ToolCall, ToolChoice, ToolOffer, Usage } from "#events/thread.ts";

/* The port to language models; infra/models implements it once per provider. */

export type Part =
  | { type: "text"; text: string }
  | { type: "file"; filename: string; mime_type: string; bytes: Buffer };

export type { ToolOffer } from "#events/thread.ts";

/** One message of a conversation. A `tool` message for each call follows an assistant message with calls. */
export type ModelMessage =
  | { role: "user"; parts: Part[] }
  /** `opaque`: the provider's own data about the calls, sent back unchanged. */
  | { role: "assistant"; parts: Part[]; calls?: ToolCall[]; opaque?: unknown }
  | { role: "tool"; parts: Part[]; call_id: string };

/** Up to this size, a turn's conversation, its output and a piece of an answer are not counted: a thousand turns fit into memory. */
export const UNCOUNTED_SIZE = 64 * 1024;

/** Counts an answer against the memory limits of the process. Both methods throw a ModelError when there is no room (ADR 77). */
export interface AnswerMemory {
  /** Counts UTF-16 units that stay in memory until the turn has ended. */
  add(size: number): void;
  /** Sets the bytes of the piece that has arrived only in part; 0 once it is complete. */
  holdPiece(bytes: number): void;
}

export interface ModelRequest {
  /** The provider's name of the model, without `provider/`. */
  model: string;
  instructions: string | null;
  messages: ModelMessage[];
  tools: ToolOffer[];
  /** Names of the tools that the caller runs. A provider must not replace them by a tool of its own. Absent: none. */
  client_tools?: readonly string[];
  /** Ignored without tools. */
  tool_choice: ToolChoice;
  temperature: number | null;
  top_p: number | null;
  max_output_tokens: number | null;
  stop: string[];
  seed: number | null;
  response_format: ResponseFormat;
  user: string | null;
  /** For models that support it. */
  reasoning_effort: string | null;
  /** Asks the provider for a stream. A buffered request yields one text event. */
  streamed: boolean;
  /** Counts the answer while it arrives. */
  share?: AnswerMemory;
}

/** A model's output in order. `finish` comes last and exactly once. */
export type ModelEvent =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  | { type: "citations"; citations: Citation[] }
  /** The model or its provider refuses to answer: the whole refusal. */
  | { type: "refusal"; text: string }
  /** A piece of a call has arrived. It shows that the model is working; the calls follow when all are complete. */
  | { type: "progress" }
  /** All calls of the answer, in one event. */
  | { type: "tool_calls"; calls: ToolCall[]; opaque?: unknown }
  | { type: "finish"; finish_reason: FinishReason; usage: Usage };

/** Why a provider refused a request that another model may answer: it is too long, or a filter stopped it. */
export type RefusalReason = "context_length" | "content_filter";

interface ModelErrorOptions {
  status?: number;
  retry_after_ms?: number;
  details?: string;
  reason?: RefusalReason | undefined;
  cause?: unknown;
}

/** A provider failed. `refused`: a retry would fail the same way. `transient`: a retry may work (429, 5xx, network). `cut`: the answer broke off. */
export class ModelError extends Error {
  readonly kind: "refused" | "transient" | "cut";
  /** HTTP status, when the provider answered. */
  readonly status: number | undefined;
  /** The wait that the provider asks for, in milliseconds. */
  readonly retry_after_ms: number | undefined;
  /** What the provider said about its credential: for the service's log, never for API callers. */
  readonly details: string | undefined;
  /** Why the request was refused, if the provider says so. */
  readonly reason: RefusalReason | undefined;

  constructor(kind: "refused" | "transient" | "cut", message: string, options: ModelErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = "ModelError";
    this.kind = kind;
    this.status = options.status;
    this.retry_after_ms = options.retry_after_ms;
    this.details = options.details;
    this.reason = options.reason;
  }
}

export interface Model {
  /** Ends with `finish`, or throws ModelError; throws an AbortError when the signal aborts. */
  complete(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}

/** Access to a provider: the deployment's or the organization's. */
export interface Credential {
  provider: string;
  api_key: string;
  /** Its API format. Absent: see `formatOf` in events/provider.ts. */
  format?: ProviderFormat;
  base_url: string | null;
  /** Context windows that the organization set, by the model's name. */
  context_windows?: Record<string, number>;
  /** The address comes from a tenant, so requests go through the guarded fetch. */
  guarded: boolean;
}

export interface Models {
  /** The client for a provider. */
  open(credential: Credential): Model;
}

/**
 * Maximum bytes of attachments in a request: no provider accepts more in base64. A larger request would be refused anyway, and writing
 * it takes several times its size in memory.
 */
const MAX_SENT_FILE_BYTES = 100_000_000;

/** Throws a ModelError if attachments exceed the limit. */
export function limitSentFiles(bytes: number): void {
  if (bytes <= MAX_SENT_FILE_BYTES) return;
  const [sent, limit] = [Math.ceil(bytes / 1_000_000), MAX_SENT_FILE_BYTES / 1_000_000];
  throw new ModelError("refused", `The attachments have ${sent} MB together; a provider is sent ${limit} MB at most.`);
}
