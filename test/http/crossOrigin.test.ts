import { describe, expect, test } from "vitest";
import { raw } from "./raw.ts";
import { say, startService } from "./service.ts";

const APP = "https://app.example.com";
const service = await startService({ CORS_ORIGINS: `${APP},http://localhost:3000` });
const { api_key } = service.credentials;

const PREFLIGHT = {
  "access-control-request-method": "POST",
  "access-control-request-headers": "authorization,content-type,x-stainless-lang",
};
const ask = (method: string, path: string, headers: Record<string, string>, body?: unknown) =>
  fetch(service.base + path, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
/** The headers of CORS in an answer. */
const shared = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => name === "vary" || name.startsWith("access-control-")));
const FOR_APP = { vary: "Origin", "access-control-allow-origin": APP, "access-control-expose-headers": "*" };
const authorization = `Bearer ${api_key}`;

describe("a preflight", () => {
  test.each([
    "/api/openai/v1/chat/completions",
    "/api/agents/0197a2b0-0000-7000-8000-000000000000/v1/responses",
    "/api/v1/knowledge/search",
    "/api/workflows/hooks/x",
  ])("of a listed origin for %s is answered without a credential", async (path) => {
    const answer = await ask("OPTIONS", path, { origin: APP, ...PREFLIGHT });
    expect([answer.status, await answer.text()]).toEqual([204, ""]);
    expect(shared(answer)).toEqual({
      ...FOR_APP,
      "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
      "access-control-allow-headers": PREFLIGHT["access-control-request-headers"],
      "access-control-max-age": "7200",
    });
  });

  test("of another origin is a 404 that names the setting, and allows nothing", async () => {
    for (const origin of ["https://app.example.com.evil.test", "http://app.example.com", "null"]) {
      const answer = await ask("OPTIONS", "/api/openai/v1/models", { origin, ...PREFLIGHT });
      expect([answer.status, shared(answer)]).toEqual([404, { vary: "Origin" }]);
      expect(await answer.text()).toContain(
        `Pages of ${origin} may call this API once the operator names that origin in CORS_ORIGINS.`,
      );
    }
  });

  test("for the console's own routes allows nothing", async () => {
    for (const path of [
      "/api/auth/login",
      "/api/keys",
      "/api/agents/x",
      "/api/providers/openai",
      "/console/",
      "/api/v10",
    ]) {
      const answer = await ask("OPTIONS", path, { origin: APP, ...PREFLIGHT });
      expect([path, answer.status, shared(answer)]).toEqual([path, 404, {}]);
    }
  });
});

describe("an answer", () => {
  test.each([
    ["a completion", "POST", "/chat/completions", say("Hello"), 200],
    ["a stream", "POST", "/chat/completions", say("Hello", { stream: true }), 200],
    ["a refusal", "POST", "/chat/completions", { model: "offline/echo" }, 400],
    ["an unknown path", "GET", "/assistants/x/y", undefined, 404],
    ["a path that is no path", "GET", "/%zz", undefined, 400],
  ])("that is %s is readable for a page of a listed origin", async (_name, method, path, body, status) => {
    const answer = await ask(method, `/api/openai/v1${path}`, { origin: APP, authorization }, body);
    expect([answer.status, shared(answer)]).toEqual([status, FOR_APP]);
    expect(answer.headers.get("x-request-id")).toBeTruthy();
    await answer.text();
  });

  test("without a valid key is readable, too", async () => {
    const answer = await ask("GET", "/api/openai/v1/models", { origin: APP, authorization: "Bearer sk-svc-wrong" });
    expect([answer.status, shared(answer)]).toEqual([401, FOR_APP]);
  });

  test("is unreadable for a page of another origin, and caches do not return it to one", async () => {
    const other = await ask("GET", "/api/openai/v1/models", { origin: "https://evil.test", authorization });
    expect([other.status, shared(other)]).toEqual([200, { vary: "Origin" }]);
    expect(shared(await ask("GET", "/api/openai/v1/models", { authorization }))).toEqual({ vary: "Origin" });
  });

  test("to a cookie, or to a sign-in, is readable only for the service's own pages", async () => {
    const login = { ...service.credentials.admin, cookie: true };
    const refused = await ask("POST", "/api/auth/login", { origin: APP }, login);
    expect([refused.status, shared(refused)]).toEqual([403, {}]);
    const signedIn = await ask("POST", "/api/auth/login", { origin: service.base }, login);
    expect(signedIn.status).toBe(200);
    const cookie = signedIn.headers.get("set-cookie")!.split(";")[0]!;
    for (const site of ["same-site", "cross-site"]) {
      const posted = await ask(
        "POST",
        "/api/openai/v1/chat/completions",
        { origin: APP, cookie, "sec-fetch-site": site },
        say("x"),
      );
      expect(posted.status).toBe(403);
      const read = await ask("GET", "/api/openai/v1/models", { origin: APP, cookie, "sec-fetch-site": site });
      expect(read.headers.get("access-control-allow-credentials")).toBeNull();
    }
  });
});

test("invalid header names in a preflight are left out of its answer", async () => {
  const head = `OPTIONS /api/openai/v1/models HTTP/1.1\r\nHost: x\r\nOrigin: ${APP}\r\nAccess-Control-Request-Method: GET\r\nAccess-Control-Request-Headers: a;b\r\nConnection: close\r\n\r\n`;
  const answer = await raw(service.base, head);
  expect(answer).toMatch(/^HTTP\/1\.1 204 /);
  expect(answer).not.toMatch(/access-control-allow-headers/i);
});

describe("CORS_ORIGINS=*", () => {
  test("allows every page with a key, but none with a cookie", async () => {
    const { base, credentials } = await startService({ CORS_ORIGINS: "*" });
    const headers = { origin: "https://anyone.test", authorization: `Bearer ${credentials.api_key}` };
    const answer = await fetch(`${base}/api/openai/v1/models`, { headers });
    expect([answer.status, shared(answer)]).toEqual([
      200,
      { "access-control-allow-origin": "*", "access-control-expose-headers": "*" },
    ]);
  });
});

test("no answer has a CORS header without the setting", async () => {
  const { base } = await startService();
  const answer = await fetch(`${base}/api/openai/v1/models`, {
    method: "OPTIONS",
    headers: { origin: APP, ...PREFLIGHT },
  });
  expect([answer.status, shared(answer)]).toEqual([404, {}]);
});
