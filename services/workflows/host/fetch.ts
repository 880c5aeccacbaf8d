import { z } from "zod";
import { WebError, WebRefused } from "../../turns/tools/web.ts";
import { FETCH_METHODS } from "../stepInputs.ts";
import { StepFailure, type StepHost } from "../tick.ts";
import { isEgressAllowed } from "./envelopeRules.ts";
import { invalidInput } from "./input.ts";

/** Fetches a URL for a step. Calls `permit`, which may throw, with the URL and with each redirect. Throws WebError. */
export type FetchPort = (
  url: URL,
  init: RequestInit,
  permit: (url: URL) => void,
  signal: AbortSignal,
) => Promise<{ status: number; headers: Headers; text: string }>;

/** UTF-16 units of a request body; responses have the same limit. */
const MAX_BODY = 10 * 1024 * 1024;
/** Headers of the transport, which only the platform may set. */
const TRANSPORT_HEADERS = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

const Request = z.object({
  url: z.string().max(16_384),
  method: z.enum(FETCH_METHODS),
  headers: z.array(z.tuple([z.string(), z.string()])).max(200),
  body: z.string().max(MAX_BODY).nullable(),
});

function parseHeaders(sent: [string, string][]): Headers {
  const transport = sent.find(([name]) => TRANSPORT_HEADERS.has(name.toLowerCase()) || /^proxy-/i.test(name));
  if (transport) throw invalidInput(`fetch: headers: ${transport[0]} is set by the platform.`);
  try {
    return new Headers(sent);
  } catch (error) {
    throw invalidInput(`fetch: headers: ${(error as Error).message}`);
  }
}

const notAllowed = (message: string): StepFailure => new StepFailure("egress_not_allowed", message, { final: true });

/** Sends a step's request if the envelope's egress rules allow its host. Throws StepFailure. */
export async function fetchWithin(
  port: FetchPort,
  egress: string[],
  sent: Parameters<StepHost["fetch"]>[0],
  signal: AbortSignal,
): ReturnType<StepHost["fetch"]> {
  const parsed = Request.safeParse(sent);
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!;
    throw invalidInput(`fetch: ${path.join(".")}: ${message}`);
  }
  const { method, body } = parsed.data;
  const url = URL.parse(parsed.data.url);
  if (!url || !/^https?:$/.test(url.protocol)) throw invalidInput("fetch: url: must be an http or https address.");
  const headers = parseHeaders(parsed.data.headers);
  const permit = (to: URL) => {
    if (!isEgressAllowed(egress, to))
      throw new WebRefused(`fetch: ${to.host} is not among the hosts of the workflow's envelope.egress.`);
  };
  try {
    permit(url);
    const response = await port(url, { method, headers, ...(body !== null && { body }) }, permit, signal);
    return { status: response.status, headers: [...response.headers], body: response.text };
  } catch (error) {
    if (error instanceof WebRefused) throw notAllowed(error.message);
    if (error instanceof WebError) throw new StepFailure("step_error", `fetch: ${error.message}`);
    throw error;
  }
}
