import { join } from "node:path";
import { startPlatform } from "../platform.ts";

export type Service = Awaited<ReturnType<typeof startService>>;

/** The whole service in this process with one organization, and what http's tests ask of it. It ends with the test file. */
export async function startService(env: Record<string, string> = {}) {
  const { url, opened, organization, settings } = await startPlatform({ env });
  return {
    base: url,
    chat: `${url}/api/openai/v1`,
    opened,
    db: opened.db,
    pool: opened.pool,
    blobs: join(settings.DATA_DIR, "blobs"),
    organization,
    credentials: await organization("First"),
  };
}

/** A client of one credential: `call("POST", "/files", …)` below the chat base, or an absolute address. */
export function clientOf(service: Pick<Service, "chat">, token: string) {
  return async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const form = body instanceof FormData;
    const type: Record<string, string> = body === undefined || form ? {} : { "content-type": "application/json" };
    const response = await fetch(path.startsWith("http") ? path : service.chat + path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...type, ...headers },
      ...(body === undefined ? {} : { body: form || typeof body === "string" ? body : JSON.stringify(body) }),
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

export const say = (text: string, more: Record<string, unknown> = {}) => ({
  model: "offline/echo",
  messages: [{ role: "user", content: text }],
  ...more,
});
