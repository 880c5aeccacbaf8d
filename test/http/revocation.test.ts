import type { FastifyReply, FastifyRequest } from "fastify";
import pg from "pg";
import { describe, expect, test, vi } from "vitest";
import { requireAdmin } from "#http/auth/authenticate.ts";
import { recheckAfterWait } from "#http/base/recheck.ts";
import { findSessionsByTokenHash } from "#projections/sessions/query.ts";
import { code, openTenant } from "../workflows/tenant.ts";
import { clientOf, say, startService } from "./service.ts";

const service = await startService();
const api = `${service.base}/api`;
const anonymous = clientOf(service, "");
const { token } = (await anonymous("POST", `${api}/auth/login`, service.credentials.admin)).body;
const owner = clientOf(service, token);
const tenant = await openTenant(service.base, service.credentials);

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
const script = `/slow 1\n/say ${"word ".repeat(600)}`;
const speech = say(script, { model: "offline/scripted", stream: true });

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

  test("the events of a run, and the response of an agent, of a deleted key", async () => {
    const run = await tenant.start(await tenant.register());
    const agent = await tenant.newAgent({ model: "offline/scripted" });
    const spoken = { input: script, stream: true };
    const { id, key } = (await owner("POST", `${api}/keys`, { name: "K" })).body;
    const events = await open(key, `${api}/workflows/runs/${run}/events`);
    const response = await open(key, `${api}/agents/${agent}/v1/responses`, spoken);
    expect((await owner("DELETE", `${api}/keys/${id}`)).status).toBe(204);
    await Promise.all([events.closed, response.closed]);
    await tenant.cancel(run);
  });

  test("the stream of changes of a removed member", async () => {
    const { id, token } = await tenant.member("viewer");
    const stream = await open(token, `${api}/changes`);
    expect((await owner("DELETE", `${api}/members/${id}`)).status).toBe(204);
    await stream.closed;
  });

  test("the audit stream of a session that signed out", async () => {
    const { token } = (await clientOf(service, "")("POST", `${api}/auth/login`, service.credentials.admin)).body;
    const stream = await open(token, `${api}/events`);
    expect((await clientOf(service, token)("POST", `${api}/auth/logout`)).status).toBe(204);
    await stream.closed;
  });
});

describe("a revoked credential does not receive a result that it waited for:", () => {
  /** Starts a wait, revokes, lets the run end, and gives the answer to the wait. */
  async function waitAndRevoke(wait: (run: string) => Promise<any>, run: string, revoke: () => Promise<unknown>) {
    const [approval] = await tenant.pending(run);
    const answer = wait(run);
    await revoke();
    await tenant.made(tenant.decide(approval));
    return answer;
  }

  test("a deleted key that waits for a run", async () => {
    const { id, call } = await tenant.newKey();
    const run = await tenant.start(await tenant.register());
    const wait = () => call("GET", `/workflows/runs/${run}?wait=60`);
    const revoke = () => tenant.made(tenant.owner("DELETE", `/keys/${id}`));
    expect(code(await waitAndRevoke(wait, run, revoke))).toEqual([401, "invalid_api_key"]);
  });

  test("a rotated secret that waits for a hook's run", async () => {
    const workflow = await tenant.register();
    const hook = await tenant.hook(workflow);
    const { run_id } = await tenant.call(hook);
    const wait = () => tenant.caller(hook)("GET", `/workflows/hooks/${hook.hook_token}/runs/${run_id}?wait=60`);
    const revoke = () => tenant.made(tenant.owner("POST", `/workflows/${workflow.id}/triggers/${hook.id}/rotate`));
    expect(code(await waitAndRevoke(wait, run_id, revoke))).toEqual([401, "invalid_webhook_secret"]);
  });

  test.each([
    [1_600, 1],
    [1_000, 0],
  ])("an answer after %i ms authenticates its caller again %i times", async (elapsedTime, times) => {
    const recheckCredential = vi.fn(async () => {});
    await recheckAfterWait({ elapsedTime, request: { recheckCredential } } as unknown as FastifyReply);
    expect(recheckCredential).toHaveBeenCalledTimes(times);
  });
});

test("an open download checks the role again, too", async () => {
  const { id, token, call } = await tenant.member("admin");
  // waits for the session, which this test looks up without waiting
  await tenant.made(call("GET", "/auth/me"));
  const authorization = `Bearer ${token}`;
  const request = {
    headers: { authorization },
    raw: { rawHeaders: ["authorization", authorization] },
    routeOptions: { method: "GET", url: "/api/exports" },
  } as unknown as FastifyRequest;
  const nothing = async () => undefined;
  const { db, settings } = service;
  const findSessionByTokenHash = async (hash: string) => (await findSessionsByTokenHash(db, [hash])).get(hash);
  const needs = { settings, findKeyByHash: nothing, findSessionByTokenHash, waitUntilCurrent: nothing };
  await requireAdmin({ ...needs, noteUse: () => {} })(request);
  await request.recheckCredential!();
  await tenant.made(tenant.owner("PATCH", `/members/${id}`, { role: "viewer" }));
  await expect(request.recheckCredential!()).rejects.toMatchObject({ errorCode: "forbidden" });
});

test("a hundred unknown sessions at once share their look-ups", async () => {
  const asked = vi.spyOn(pg.Client.prototype, "query");
  const stranger = (n: number) => clientOf(service, `sess-${service.settings.SERVICE_NAME}-unknown${n}`);
  const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => stranger(n)("GET", `${api}/auth/me`)));
  const texts = asked.mock.calls.map(([query]) => (query as unknown as { text?: string }).text ?? "");
  asked.mockRestore();
  expect(new Set(answers.map(code).map(String))).toEqual(new Set(["401,invalid_session"]));
  expect(texts.filter((text) => /from read\.sessions|from log\.head/.test(text)).length).toBeLessThan(100);
});
