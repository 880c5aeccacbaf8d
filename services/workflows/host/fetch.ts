import { z } from "zod";
import { WebError, WebRefused } from "../../turns/tools/web.ts";
import { StepFailure, type StepHost } from "../tick.ts";
import { isEgress } from "./allows.ts";
import { wrong } from "./input.ts";

/** A whole request to an address that a step named; `permit` is asked about it and about every one that it is redirected to. Throws WebError. */
export type FetchPort = (
  url: URL,
  init: RequestInit,
  permit: (url: URL) => void,
  signal: AbortSignal,
) => Promise<{ status: number; headers: Headers; text: string }>;

/** Largest body, as of an answer, in UTF-16 units. */
const MAX_BODY = 10 * 1024 * 1024;
/** They say how the request travels, and are the platform's. */
const TRAVEL = new Set([
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
  method: z.enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]),
  headers: z.array(z.tuple([z.string(), z.string()])).max(200),
  body: z.string().max(MAX_BODY).nullable(),
});

function headersOf(sent: [string, string][]): Headers {
  const travel = sent.find(([name]) => TRAVEL.has(name.toLowerCase()) || /^proxy-/i.test(name));
  if (travel) throw wrong(`fetch: headers: ${travel[0]} is set by the platform.`);
  try {
    return new Headers(sent);
  } catch (error) {
    throw wrong(`fetch: headers: ${(error as Error).message}`);
  }
}

const refused = (message: string): StepFailure => new StepFailure("egress_not_allowed", message, { final: true });

/** A request of a step, to the hosts that its envelope opens and nowhere else. */
export async function fetchFor(
  port: FetchPort,
  egress: string[],
  sent: Parameters<StepHost["fetch"]>[0],
  signal: AbortSignal,
): ReturnType<StepHost["fetch"]> {
  const checked = Request.safeParse(sent);
  if (!checked.success) {
    const { path, message } = checked.error.issues[0]!;
    throw wrong(`fetch: ${path.join(".")}: ${message}`);
  }
  const { method, body } = checked.data;
  const url = URL.parse(checked.data.url);
  if (!url || !/^https?:$/.test(url.protocol)) throw wrong("fetch: url: must be an http or https address.");
  const headers = headersOf(checked.data.headers);
  const permit = (to: URL) => {
    if (!isEgress(egress, to))
      throw new WebRefused(`fetch: ${to.host} is not among the hosts of the workflow's envelope.egress.`);
  };
  try {
    permit(url);
    const answer = await port(url, { method, headers, ...(body !== null && { body }) }, permit, signal);
    return { status: answer.status, headers: [...answer.headers], body: answer.text };
  } catch (error) {
    if (error instanceof WebRefused) throw refused(error.message);
    if (error instanceof WebError) throw new StepFailure("step_error", `fetch: ${error.message}`);
    throw error;
  }
}
