import { afterEach, describe, expect, test } from "vitest";
import { listRoutes } from "../accounts/everyRoute.ts";
import { startOpenai } from "../doubles/openai.ts";
import { signIn } from "../http/service.ts";
import { leavesWell, say, startTarget, UNKNOWN } from "./target.ts";

/* Sends nonsense to every route of /openapi.json, which may refuse it but must not fail. */

const ODD = "a\u0000' or 1=1 --\u202e";

const target = await startTarget();
const { platform, credentials } = target;
const { token } = await signIn(platform.url, credentials.admin);
const session: { authorization: string } = { authorization: `Bearer ${token}` };
const routes: [method: string, path: string][] = (await listRoutes(platform.url)).map(
  (route) => route.split(" ") as [string, string],
);
leavesWell(() => target, afterEach);

const filled = (path: string, value: string) =>
  target.platform.url + path.replace(/\{[^}]*\}|\*/g, encodeURIComponent(value));
/** The shape that every answer other than success has. */
const wellRefused = (status: number, body: any) =>
  status < 300 ||
  (status >= 400 && status < 500 && typeof body?.error?.message === "string" && typeof body.error.type === "string");

/** Answers that are neither a success nor a proper refusal. */
async function failures(
  each: (method: string, path: string) => Promise<{ status: number; body: any }>,
): Promise<string[]> {
  const found: string[] = [];
  for (const [method, path] of routes) {
    // it would end the session that asks
    if (path.endsWith("/auth/logout")) continue;
    const { status, body } = await each(method, path);
    if (!wellRefused(status, body)) found.push(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
  }
  return found;
}
const bodyless = (method: string) => method === "GET";

test("the API description is not empty", () => expect(routes.length).toBeGreaterThan(15));

describe("no route fails for", () => {
  const bodies: [string, unknown][] = [
    ["null", "null"],
    ["a list", "[]"],
    ["a string", '"x"'],
    ["a number", "1e400"],
    ["an empty object", "{}"],
    [
      "fields of wrong types",
      {
        name: {},
        email: [],
        password: 1,
        model: [],
        messages: {},
        api_key: {},
        models: "x",
        expires_at: 7,
        products: "x",
        enabled: "yes",
        allowed_models: {},
      },
    ],
    [
      "fields of unusual text",
      {
        name: ODD,
        email: ODD,
        password: ODD,
        api_key: ODD,
        base_url: ODD,
        models: [ODD],
        expires_at: ODD,
        products: [ODD],
        enabled: true,
        allowed_models: [ODD],
        project_id: ODD,
      },
    ],
    [
      "field names that stores cannot hold",
      {
        name: ODD,
        email: `${ODD}@x`,
        password: ODD,
        api_key: "k",
        base_url: "http://127.0.0.1:1/v1",
        models: [ODD],
        allowed_models: [ODD],
      },
    ],
    [
      "fields with half a surrogate pair",
      '{"name":"\\ud800","email":"\\ud800@\\ud800","password":"\\ud800","api_key":"k","base_url":"http://127.0.0.1:1/\\ud800","allowed_models":["\\ud800"]}',
    ],
    ["fields of great length", { name: "n".repeat(900_000), email: "e".repeat(1_000), password: "p".repeat(5_000) }],
    ["bad JSON", "{"],
  ];

  test.each(bodies)("%s as a body", async (_name, body) => {
    const send = (method: string, path: string) =>
      target.send(method, filled(path, UNKNOWN), bodyless(method) ? undefined : body, session);
    expect(await failures(send)).toEqual([]);
  });

  test.each([ODD, "..", "%", "é🎉", "constructor", "__proto__", "x".repeat(480), "{}", "0"])(
    "%j in the path",
    async (value) => {
      const send = (method: string, path: string) =>
        target.send(method, filled(path, value), bodyless(method) ? undefined : "{}", session);
      expect(await failures(send)).toEqual([]);
    },
  );

  test.each([
    "user=a&user=b",
    "limit=abc&offset=-1",
    "limit=1e400&offset=99999999999999999999",
    "limit=&offset=",
    `user=${encodeURIComponent(ODD)}`,
    "limit=%00",
  ])("%s as a query", async (query) => {
    const send = (method: string, path: string) =>
      target.send(method, `${filled(path, UNKNOWN)}?${query}`, bodyless(method) ? undefined : "{}", session);
    expect(await failures(send)).toEqual([]);
  });

  test("a request without a credential, or with an organization's key", async () => {
    for (const authorization of ["", "Bearer sess-svc-x", `Bearer ${target.api_key}`])
      expect(
        await failures((method, path) =>
          target.send(method, filled(path, UNKNOWN), bodyless(method) ? undefined : "{}", { authorization }),
        ),
      ).toEqual([]);
  });
});

test("a time that cannot be stored is refused and parks no stream", async () => {
  const { platform, send } = target;
  const times = [
    "0000-01-01T00:00:00Z",
    "9999-12-31T23:59:59-14:00",
    "+275760-09-13T00:00:00Z",
    "1969-12-31T23:59:59Z",
    "2026-02-30T00:00:00Z",
    "infinity",
  ];
  for (const expires_at of times) {
    const { status, body } = await send("POST", `${platform.url}/api/keys`, { name: "x", expires_at }, session);
    expect([status, body.error?.param]).toEqual([400, "expires_at"]);
  }
  const last = { name: "x", expires_at: "9999-12-31T23:59:59.999Z" };
  expect((await send("POST", `${platform.url}/api/keys`, last, session)).body).toMatchObject(last);
});

test("a model's name is limited, even if its provider accepts any name", async () => {
  const provider = await startOpenai();
  provider.script(({ method }) => (method === "GET" ? { status: 500 } : undefined));
  const { platform, send, complete } = target;
  const put = await send("PUT", `${platform.url}/api/providers/any`, { api_key: "k", base_url: provider.url }, session);
  expect(put.status).toBe(200);
  for (const length of [513, 300_000, 5_000_000]) {
    const { status, body } = await complete(say("x", { model: `any/${"m".repeat(length)}` }));
    expect([status, body.error.code]).toEqual([400, "model_not_found"]);
  }
  await provider.close();
});
