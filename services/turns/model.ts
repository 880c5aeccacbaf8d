import type { Citation, FinishReason, ResponseFormat, ToolCall, ToolChoice, Usage } from "#events/thread.ts";

/* The port to language models; infra/models implements it once per provider. */

export type Part =
  | { type: "text"; text: string }
  | { type: "file"; filename: string; mime_type: string; bytes: Buffer };

/** What a model is told of a tool; `parameters` is a JSON schema. */
export interface ToolOffer {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
}

/** One piece of a conversation. After an assistant's calls comes a `tool` message for each of them. */
export type ModelMessage =
  | { role: "user"; parts: Part[] }
  /** `opaque`: what the provider itself sent along with the calls, as it came. */
  | { role: "assistant"; parts: Part[]; calls?: ToolCall[]; opaque?: unknown }
  | { role: "tool"; parts: Part[]; call_id: string };

export interface ModelRequest {
  /** The provider's own name of the model, without `provider/`. */
  model: string;
  instructions: string | null;
  messages: ModelMessage[];
  tools: ToolOffer[];
  /** Of no meaning without tools. */
  tool_choice: ToolChoice;
  temperature: number | null;
  top_p: number | null;
  max_output_tokens: number | null;
  stop: string[];
  seed: number | null;
  response_format: ResponseFormat;
  user: string | null;
  /** How long it shall think, where it can be told. */
  reasoning_effort: string | null;
  /** Somebody reads along: ask the provider for a stream. Buffered requests yield one text event. */
  streamed: boolean;
}

/** What a model says, in order; `finish` is always the last and comes exactly once. */
export type ModelEvent =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  | { type: "citations"; citations: Citation[] }
  /** All calls of the answer, once. */
  | { type: "tool_calls"; calls: ToolCall[]; opaque?: unknown }
  | { type: "finish"; finish_reason: FinishReason; usage: Usage };

/** How a provider failed. `refused`: it will say the same again. `transient`: it may not (429, 5xx, network). `cut`: it broke off after it had begun. */
export class ModelError extends Error {
  readonly kind: "refused" | "transient" | "cut";
  /** HTTP status of the provider, where there was one. */
  readonly status: number | undefined;
  /** What the provider asked to wait, in milliseconds. */
  readonly retry_after_ms: number | undefined;

  constructor(
    kind: "refused" | "transient" | "cut",
    message: string,
    options: { status?: number; retry_after_ms?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = "ModelError";
    this.kind = kind;
    this.status = options.status;
    this.retry_after_ms = options.retry_after_ms;
  }
}

export interface Model {
  /** Ends with `finish`, or throws a ModelError; an abort of the signal ends it with an AbortError. */
  complete(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}

/** Where a model is reached: the deployment's own credential, or the organization's. */
export interface Credential {
  provider: string;
  api_key: string;
  base_url: string | null;
  /** True where a tenant named the address: it goes through the guarded fetch. */
  guarded: boolean;
}

export interface Models {
  /** The model behind `provider/model`; undefined when no such provider can be used here. */
  open(credential: Credential): Model;
}
