/** The search server refused a request. */
export class MeilisearchError extends Error {
  override name = "MeilisearchError";
  readonly status: number;
  /** Error code from Meilisearch's documentation, such as `index_not_found`. */
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export interface ServerRequest {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  path: string;
  /** JSON, or NDJSON if it is a buffer. */
  body?: object | Buffer;
  timeoutMs: number;
  /**
   * Milliseconds of silence after which the request is repeated on a new connection, within `timeoutMs`: the network may have
   * dropped the old one.
   */
  retryAfterMs?: number;
}

/** Sends a request with this key. */
export type Send = <T>(serverRequest: ServerRequest, key: string) => Promise<T>;
