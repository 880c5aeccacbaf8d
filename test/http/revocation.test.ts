import { beforeAll, describe, expect, test } from "vitest";
import { clientOf, say, startService, type Service } from "./service.ts";

let service: Service;
let owner: ReturnType<typeof clientOf>;
let api: string;
beforeAll(async () => {
  service = await startService();
  api = `${service.base}/api`;
  const anonymous = clientOf(service, "");
  const { token } = (await anonymous("POST", `${api}/auth/login`, service.credentials.admin)).body;
  owner = clientOf(service, token);
});

/** Opens a stream with a credential and resolves when its first bytes have arrived. */
async function open(token: string, path: string, body?: unknown) {
  const response = await fetch(path, {
    method: body ? "POST" : "GET",
    headers: { authorization: `Bearer ${token}`, accept: "text/event-stream", "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  expect(response.status).toBe(200);
  const reader = response.body!.getReader();
  await reader.read();
  /** Resolves when the server has closed the stream: by an end or by a cut. */
  const closed = (async () => {
    while (!(await reader.read().catch(() => ({ done: true }))).done);
  })();
  return { closed };
}

// The script speaks for ten minutes: only the server can end these streams in time.
const speech = say(`/slow 1\n/say ${"word ".repeat(600)}`, { model: "offline/scripted", stream: true });

describe("a revoked credential ends its open streams:", () => {
  test("a chat stream of a deleted key", async () => {
    const { id, key } = (await owner("POST", `${api}/keys`, { name: "K" })).body;
    const stream = await open(key, `${service.chat}/chat/completions`, speech);
    expect((await owner("DELETE", `${api}/keys/${id}`)).status).toBe(204);
    await stream.closed;
  });

  test("a chat stream of a disabled key", async () => {
    const { id, key } = (await owner("POST", `${api}/keys`, { name: "K" })).body;
    const stream = await open(key, `${service.chat}/chat/completions`, speech);
    expect((await owner("PATCH", `${api}/keys/${id}`, { enabled: false })).status).toBe(200);
    await stream.closed;
  });

  test("the audit stream of a session that signed out", async () => {
    const { token } = (await clientOf(service, "")("POST", `${api}/auth/login`, service.credentials.admin)).body;
    const stream = await open(token, `${api}/events`);
    expect((await clientOf(service, token)("POST", `${api}/auth/logout`)).status).toBe(204);
    await stream.closed;
  });
});
