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

/** Of its conversation, of what is said, and of a piece of an answer, a turn may hold so much that does not count: a thousand turns fit. */
export const UNCOUNTED_SIZE = 64 * 1024;

/** Room for an answer in the memory of the process. Both throw a ModelError when there is none (ADR 77). */
export interface AnswerMemory {
  /** Counts what stays until the turn has ended, in UTF-16 units. */
  add(size: number): void;
  /** The bytes of a piece that has not arrived whole; 0 once it has. */
  holdPiece(bytes: number): void;
}

export interface ModelRequest {
  /** The provider's name of the model, without `provider/`. */
  model: string;
  instructions: string | null;
  messages: ModelMessage[];
  tools: ToolOffer[];
  /** Names of those that the caller runs: a provider must not put a tool of its own in their place. Absent: none. */
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
  /** Where the answer counts while it arrives. */
  share?: AnswerMemory;
}

/** A model's output in order. `finish` comes last and exactly once. */
export type ModelEvent =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  | { type: "citations"; citations: Citation[] }
  /** The model or its provider refuses to answer: the whole refusal. */
  | { type: "refusal"; text: string }
  /** A piece of a call arrived: the model is working, although the calls come only when all are complete. */
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
  /** Of a refusal, where the provider says why. */
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
  /** Its API; absent: that of its name. */
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
 * Bytes of attachments in a request to a provider: in base64, none takes more. Writing such a request takes several times as much
 * memory, so a larger one is refused as the provider would refuse it.
 */
const MAX_SENT_FILE_BYTES = 100_000_000;

/** Throws a ModelError where attachments are more than a provider is sent. */
export function limitSentFiles(bytes: number): void {
  if (bytes <= MAX_SENT_FILE_BYTES) return;
  const [sent, limit] = [Math.ceil(bytes / 1_000_000), MAX_SENT_FILE_BYTES / 1_000_000];
  throw new ModelError("refused", `The attachments have ${sent} MB together; a provider is sent ${limit} MB at most.`);
}
