/* The ports to the endpoints of an organization that help to search (ADR 60). */

/** An endpoint that an organization has configured for its search (ADR 60). */
export interface SearchEndpoint {
  base_url: string;
  api_key: string;
  model: string;
}

export interface EmbeddingEndpoint extends SearchEndpoint {
  /** The numbers of a vector. */
  dimensions: number;
  /** Names the model and its address: only vectors of one space can be compared. */
  space: string;
}

/** Why an endpoint gave nothing that can be used. The message is for people. */
export class EndpointFailed extends Error {
  override name = "EndpointFailed";
  /** The endpoint refused these texts; others may work. */
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
  /** Vectors of length 1, one per text, and the tokens that were paid for. Throws EndpointFailed. */
  embed(
    endpoint: EmbeddingEndpoint,
    texts: string[],
    signal: AbortSignal,
  ): Promise<{ vectors: Float32Array[]; tokens: number }>;
}
