import { setTimeout as sleep } from "node:timers/promises";
import { Agent, FormData, fetch, type Response } from "undici";
import type { Journal } from "../journal.ts";
import type { Random } from "../random.ts";

const ANSWER_MS = 150_000;
const LONGEST_PAUSE_MS = 8_000;

/** A request as a client means it, sent as often as it takes. */
export interface Wanted {
  method: string;
  path: string;
  token?: string;
  body?: unknown;
  form?: () => FormData;
  headers?: Record<string, string>;
  /** What to send instead of the same again, once some of an answer was heard and then broke off. */
  follow?: (heard: string) => Wanted | undefined;
  /** Goes away once it has heard so much of the answer, and does not come back. */
  leaves?: (heard: string) => boolean;
  /** Goes away after so long, with what was heard until then. */
  patience_ms?: number;
  /** What shows that a stream has come to its end, where that is no turn's. */
  ends?: RegExp;
}

export interface Answered {
  status: number | null;
  code: string | null;
  headers: { get(name: string): string | null };
  text: string;
  bytes: Buffer;
  body: any;
  attempts: number;
}

export interface Wire {
  send(operation: string, wanted: Wanted, random: Random): Promise<Answered>;
  close(): Promise<void>;
}

const NOTHING = { status: null, code: null, headers: new Headers(), text: "", bytes: Buffer.alloc(0), body: undefined };

/** As the SDKs do: what `x-should-retry` says, else after a broken connection, 408, 409, 429 and every 5xx. Some clients do not look at the header. */
function mayHelp({ status, code, headers }: Omit<Answered, "attempts">, stubborn: boolean): boolean {
  const told = stubborn ? null : headers.get("x-should-retry");
  if (status === null) return true;
  if (code === "too_many_attempts") return false;
  return told === null ? [408, 409, 429].includes(status) || status >= 500 : told === "true";
}

/** An answer ended before its end; `heard` is what came of it. */
class BrokenOff extends Error {
  readonly heard: string;
  constructor(heard: string, cause?: unknown) {
    super("the answer broke off", { cause });
    this.heard = heard;
  }
}

/** The whole answer, or what was heard of it by a client that went away. */
async function readAll(response: Response, { leaves }: Wanted, patience: AbortSignal | undefined) {
  const chunks: Uint8Array[] = [];
  const heard = () => Buffer.concat(chunks);
  try {
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk as Uint8Array);
      if (leaves?.(heard().toString("utf8"))) return { bytes: heard(), left: true };
    }
  } catch (error) {
    if (!patience?.aborted) throw new BrokenOff(heard().toString("utf8"), error);
    return { bytes: heard(), left: true };
  }
  return { bytes: heard(), left: false };
}

const RESPONSE_ENDS = /^event: response\.(completed|failed)\ndata: .*\n\n$/m;
/** Events that came whole. */
const wholeEvents = (text: string): string => text.slice(0, text.lastIndexOf("\n\n") + 2);

/** A stream ends with `[DONE]`, or with an error where its turn failed, one of a response with its last event; anything else was cut off. */
const isBroken = (response: Response, text: string, { ends }: Wanted): boolean =>
  response.headers.get("content-type")?.startsWith("text/event-stream") === true &&
  !text.endsWith("data: [DONE]\n\n") &&
  !RESPONSE_ENDS.test(text) &&
  !ends?.test(text) &&
  !/data: \{"error".*\n\n$/.test(text);

/** A client with connections of its own, from an address of its own, that changes between the ports and retries like the SDKs. */
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
    wanted: Wanted,
    port: number,
    retry: number,
  ): Promise<Omit<Answered, "attempts">> {
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
      let heard = "";
      for (let attempt = 0; ; attempt++) {
        const port = ports[turn++ % ports.length]!;
        const start = journal.now();
        let code: string | null = null;
        const answered = await once(operation, now, port, attempt).catch((error: Error & { cause?: Error }) => {
          code = String(error.cause?.message ?? error.message);
          if (error instanceof BrokenOff && wanted.follow) {
            heard += wholeEvents(error.heard);
            now = wanted.follow(heard) ?? wanted;
            if (now === wanted) heard = "";
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
        });
        if (attempt === retries || wanted.leaves || !mayHelp(answered, stubborn))
          return { ...answered, text: heard + answered.text, attempts: attempt + 1 };
        const asked = Number(answered.headers.get("retry-after")) * 1000;
        await sleep(asked > 0 ? asked : Math.min(500 * 2 ** attempt, LONGEST_PAUSE_MS) * (0.75 + random.next() / 4));
      }
    },
    close: () => agent.destroy(),
  };
}
