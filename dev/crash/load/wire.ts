import { setTimeout as sleep } from "node:timers/promises";
import { Agent, FormData, fetch, type Response } from "undici";
import type { Journal } from "../journal.ts";
import type { Random } from "../random.ts";

export const CHAT = "/api/openai/v1";
export const KNOWLEDGE = "/api/v1/knowledge";

const ANSWER_MS = 150_000;
const MAX_PAUSE_MS = 8_000;

/** A request, sent until it is answered. */
export interface WireRequest {
  method: string;
  path: string;
  token?: string;
  body?: unknown;
  form?: () => FormData;
  headers?: Record<string, string>;
  /** What to send instead of the same request if the connection broke after a part of the answer. */
  follow?: (received: string) => WireRequest | undefined;
  /** Whether to disconnect after this part of the answer, without returning. */
  leaves?: (received: string) => boolean;
  /** Disconnects after this time, with what arrived until then. */
  patience_ms?: number;
  /** Recognizes the end of a stream that is not a turn's. */
  ends?: RegExp;
}

export interface WireAnswer {
  status: number | null;
  code: string | null;
  headers: { get(name: string): string | null };
  text: string;
  bytes: Buffer;
  body: any;
  attempts: number;
}

export interface Wire {
  send(operation: string, wanted: WireRequest, random: Random): Promise<WireAnswer>;
  close(): Promise<void>;
}

const NOTHING = { status: null, code: null, headers: new Headers(), text: "", bytes: Buffer.alloc(0), body: undefined };

/**
 * Whether to retry, as SDKs decide: by `x-should-retry`, otherwise after a broken connection, 408, 409, 429 and every 5xx. Some
 * clients ignore the header.
 */
function mayHelp({ status, code, headers }: Omit<WireAnswer, "attempts">, stubborn: boolean): boolean {
  const shouldRetry = stubborn ? null : headers.get("x-should-retry");
  if (status === null) return true;
  if (code === "too_many_attempts") return false;
  return shouldRetry === null ? [408, 409, 429].includes(status) || status >= 500 : shouldRetry === "true";
}

/** The connection broke inside an answer; `received` is the part that arrived. */
class BrokenOff extends Error {
  readonly received: string;
  constructor(received: string, cause?: unknown) {
    super("the answer broke off", { cause });
    this.received = received;
  }
}

/** The whole answer, or the part that a disconnecting client received. */
async function readAll(response: Response, { leaves }: WireRequest, patience: AbortSignal | undefined) {
  const chunks: Uint8Array[] = [];
  const received = () => Buffer.concat(chunks);
  try {
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk as Uint8Array);
      if (leaves?.(received().toString("utf8"))) return { bytes: received(), left: true };
    }
  } catch (error) {
    if (!patience?.aborted) throw new BrokenOff(received().toString("utf8"), error);
    return { bytes: received(), left: true };
  }
  return { bytes: received(), left: false };
}

const RESPONSE_ENDS = /^event: response\.(completed|failed)\ndata: .*\n\n$/m;
/** Complete events. */
const wholeEvents = (text: string): string => text.slice(0, text.lastIndexOf("\n\n") + 2);

/** A stream ends with `[DONE]`, or with an error if its turn failed; a response stream ends with its last event. Anything else was cut off. */
const isBroken = (response: Response, text: string, { ends }: WireRequest): boolean =>
  response.headers.get("content-type")?.startsWith("text/event-stream") === true &&
  !text.endsWith("data: [DONE]\n\n") &&
  !RESPONSE_ENDS.test(text) &&
  !ends?.test(text) &&
  !/data: \{"error".*\n\n$/.test(text);

/** A client with its own connections and address that alternates between the ports and retries like the SDKs. */
export function openWire(journal: Journal, ports: number[], client: number): Wire {
  const agent = new Agent({
    connect: { localAddress: `127.0.1.${client + 1}` },
    headersTimeout: ANSWER_MS,
    bodyTimeout: ANSWER_MS,
    connectTimeout: 5_000,
  });
  let turn = client;

  async function once(
    operation: string,
    wanted: WireRequest,
    port: number,
    retry: number,
  ): Promise<Omit<WireAnswer, "attempts">> {
    const { method, path, token, body, form, headers = {}, patience_ms } = wanted;
    const patience = patience_ms === undefined ? undefined : AbortSignal.timeout(patience_ms);
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      dispatcher: agent,
      signal: patience ?? null,
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        "x-stainless-retry-count": String(retry),
        "x-request-id": `${operation}.${retry}`,
        ...headers,
      },
      ...(form ? { body: form() } : body !== undefined ? { body: JSON.stringify(body) } : {}),
    });
    const { bytes, left } = await readAll(response, wanted, patience);
    const text = bytes.toString("utf8");
    if (!left && isBroken(response, text, wanted)) throw new BrokenOff(text);
    const json =
      response.headers.get("content-type")?.startsWith("application/json") && text ? JSON.parse(text) : undefined;
    return {
      status: response.status,
      code: json?.error?.code ?? null,
      headers: response.headers,
      text,
      bytes,
      body: json,
    };
  }

  return {
    async send(operation, wanted, random) {
      const retries = random.int(2, 5);
      const stubborn = random.chance(0.3);
      let now = wanted;
      let received = "";
      for (let attempt = 0; ; attempt++) {
        const port = ports[turn++ % ports.length]!;
        const start = journal.now();
        let code: string | null = null;
        const answered = await once(operation, now, port, attempt).catch((error: Error & { cause?: Error }) => {
          code = String(error.cause?.message ?? error.message);
          if (error instanceof BrokenOff && wanted.follow) {
            received += wholeEvents(error.received);
            now = wanted.follow(received) ?? wanted;
            if (now === wanted) received = "";
          }
          return NOTHING;
        });
        const { status } = answered;
        const request_id = answered.headers.get("x-request-id");
        journal.note({
          kind: "attempt",
          operation,
          port,
          start,
          end: journal.now(),
          status,
          code: answered.code ?? code,
          request_id,
          retry_after: answered.headers.get("retry-after") !== null,
        });
        if (attempt === retries || wanted.leaves || !mayHelp(answered, stubborn))
          return { ...answered, text: received + answered.text, attempts: attempt + 1 };
        const retryAfterMs = Number(answered.headers.get("retry-after")) * 1000;
        await sleep(
          retryAfterMs > 0 ? retryAfterMs : Math.min(500 * 2 ** attempt, MAX_PAUSE_MS) * (0.75 + random.next() / 4),
        );
      }
    },
    close: () => agent.destroy(),
  };
}
