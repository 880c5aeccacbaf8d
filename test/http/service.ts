import { join } from "node:path";
import { openPlatform } from "../sharedPlatform.ts";

export type Service = Awaited<ReturnType<typeof startService>>;

/** The whole platform in this process with one organization. Files without settings share the platform. */
export async function startService(env?: Record<string, string>) {
  const { platform, provider } = await openPlatform(env);
  const { url, startCodes, resources: opened, organization, settings } = platform;
  return {
    base: url,
    startCodes,
    chat: `${url}/api/openai/v1`,
    opened,
    db: opened.db,
    settings,
    pool: opened.pool,
    blobs: join(settings.DATA_DIR, "blobs"),
    organization,
    /** The double behind `openai/…` models. */
    provider,
    credentials: await organization("First"),
  };
}

/** An id that names nothing. */
export const UNKNOWN = "01900000-0000-7000-8000-000000000000";

/**
 * A client with one credential: `call("POST", "/files", …)`, relative to the chat base or absolute. Forms, texts and bytes are sent as
 * they are, and every other body as JSON.
 */
export function clientOf(service: Pick<Service, "chat">, token: string) {
  return async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const form = body instanceof FormData;
    const asIs = form || body instanceof Uint8Array || typeof body === "string";
    const type: Record<string, string> = body === undefined || form ? {} : { "content-type": "application/json" };
    const response = await fetch(path.startsWith("http") ? path : service.chat + path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...type, ...headers },
      ...(body === undefined ? {} : { body: (asIs ? body : JSON.stringify(body)) as string }),
    });
    const text = await response.text();
    const json = response.headers.get("content-type")?.startsWith("application/json");
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: json && text ? JSON.parse(text) : undefined,
    };
  };
}

/** A client of a signed-in person. */
export async function signIn(url: string, account: { email: string; password: string }) {
  const api = { chat: `${url}/api` };
  const { token } = (await clientOf(api, "none")("POST", "/auth/login", account)).body as { token: string };
  return { call: clientOf(api, token), token };
}

/** A multipart body with fields, and then a file. */
export function fileForm(
  content: string | Uint8Array<ArrayBuffer>,
  name = "a.txt",
  { type = "text/plain", fields = {} }: { type?: string; fields?: Record<string, string> } = {},
): FormData {
  const form = new FormData();
  for (const [key, value] of Object.entries(fields)) form.set(key, value);
  form.set("file", new File([content], name, { type }));
  return form;
}

/** Status and error code of an answer. */
export const code = ({ status, body }: { status: number; body: any }) => [status, body?.error?.code ?? undefined];

/** The chunks of a streamed completion, and the error that ends a broken one. `[DONE]` is none. */
export const chunksOf = (text: string): any[] =>
  text
    .split("\n\n")
    .filter((frame) => frame.startsWith("data: {"))
    .map((frame) => JSON.parse(frame.slice("data: ".length)));

export const say = (content: unknown, more: Record<string, unknown> = {}) => ({
  model: "offline/echo",
  messages: [{ role: "user", content }],
  ...more,
});
