import { readAll } from "./readAll.ts";
import { updateServiceClock } from "./serviceClock.ts";
import type { Page } from "./types.ts";

/** Address of the service, below which `/api` is. The page's base is `<service>/console/`. */
export const SERVICE_URL = new URL("..", document.baseURI);

interface ErrorBody {
  error?: { message?: string; code?: string; param?: string | null };
}

/** An answer other than success; the status is 0 if there was no answer. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string | undefined;
  readonly param: string | undefined;
  readonly request_id: string | undefined;
  /** The time after which the same request may succeed; undefined if it is unknown, or never. */
  readonly retry_after_ms: number | undefined;

  /** `header` reads a header of the answer. */
  constructor(status: number, body: ErrorBody, header: (name: string) => string | null = () => null) {
    super(body.error?.message ?? `The service answered with status ${status}.`);
    this.name = "ApiError";
    this.status = status;
    this.code = body.error?.code;
    this.param = body.error?.param ?? undefined;
    this.request_id = header("x-request-id") ?? undefined;
    const seconds = Number(header("retry-after") ?? Number.NaN);
    const isFinal = header("x-should-retry") === "false" || Number.isNaN(seconds);
    this.retry_after_ms = isFinal ? undefined : seconds * 1_000;
  }
}

const noAnswer = () => new ApiError(0, { error: { message: "The service does not answer. Is it running?" } });

/** Whether repeating the request would fail the same way. */
export const isFinal = (error: unknown): boolean =>
  error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429;

interface Request {
  method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  query?: Record<string, string | number | undefined>;
  /** Sent as JSON. */
  body?: unknown;
  form?: FormData;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** The path of one item; `ids` may contain any characters. */
export const itemPath = (kind: string, ...ids: string[]) => [kind, ...ids.map(encodeURIComponent)].join("/");

/** `/api/...` with its query; parameters that are undefined are left out. */
export function address(path: string, query: Request["query"] = {}): URL {
  const url = new URL(`api/${path}`, SERVICE_URL);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
  return url;
}

/** Sends a request and returns the response. Throws an ApiError for every answer other than success. */
export async function send(path: string, request: Request = {}): Promise<Response> {
  const { method = "GET", query, body, form, headers, signal } = request;
  const sent = Date.now();
  const response = await fetch(address(path, query), {
    method,
    credentials: "same-origin",
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    ...(body !== undefined ? { body: JSON.stringify(body) } : form && { body: form }),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    throw error instanceof DOMException && error.name === "AbortError" ? error : noAnswer();
  });
  updateServiceClock(response.headers.get("date"), sent, Date.now());
  if (response.ok) return response;
  const failure = (await response.json().catch(() => ({}))) as ErrorBody;
  throw new ApiError(response.status, failure, (name) => response.headers.get(name));
}

/** The same for an answer in JSON. */
export async function call<T>(path: string, request?: Request): Promise<T> {
  const response = await send(path, request);
  return (response.status === 204 ? undefined : await response.json()) as T;
}

/** `page` counts from 0. */
export const pageQuery = (page: number, limit: number) => ({ limit, offset: page * limit });

interface Reading {
  signal: AbortSignal;
}

/** A query function that reads one answer. */
export const queryOne =
  <T>(path: string, query?: Request["query"]) =>
  ({ signal }: Reading) =>
    call<T>(path, { signal, query });

/** A query function that reads a whole list. `keyOf` identifies a row. */
export const queryAll =
  <T>(path: string, keyOf: (row: T) => string, query?: Request["query"]) =>
  ({ signal }: Reading) =>
    readAll((page) => call<Page<T>>(path, { signal, query: { ...query, ...page } }), keyOf);

/** An answer, or null where there is nothing (404). */
export const nullIfMissing = <T>(answer: Promise<T>): Promise<T | null> =>
  answer.catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  });
