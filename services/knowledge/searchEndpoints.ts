/* Ports to an organization's own search endpoints (ADR 60). */

/** An endpoint that an organization has configured for its search (ADR 60). */
export interface SearchEndpoint {
  base_url: string;
  api_key: string;
  model: string;
}

export interface EmbeddingEndpoint extends SearchEndpoint {
  /** Length of a vector. */
  dimensions: number;
  /** Names the model and its address: only vectors of one space can be compared. */
  space: string;
}

/** An endpoint gave no usable result. The message is for people. */
export class EndpointFailed extends Error {
  override name = "EndpointFailed";
  /** The endpoint refused these texts; it may accept others. */
  readonly isRefusal: boolean;
  readonly retry_after_ms: number | undefined;
  constructor(message: string, options: { isRefusal?: boolean; retry_after_ms?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.isRefusal = options.isRefusal ?? false;
    this.retry_after_ms = options.retry_after_ms;
  }
}

/** The port to endpoints that turn texts into vectors. */
export interface Embedder {
  /** Returns one vector of length 1 per text, and the tokens paid for. Throws EndpointFailed. */
  embed(
    endpoint: EmbeddingEndpoint,
    texts: string[],
    signal: AbortSignal,
  ): Promise<{ vectors: Float32Array[]; tokens: number }>;
}
