import { describe, expect, test } from "vitest";
import { createStartCodes } from "#http/auth/startCodes.ts";
import { readSettings } from "#infra/config.ts";
import { consoleLink, formatWelcome } from "../../cli/welcome.ts";
import { startService } from "../http/service.ts";

/* Signing in by cookie, with its defences. */

const service = await startService();

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${service.base}/api${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
const signIn = (headers: Record<string, string> = {}) =>
  post("/auth/login", { ...service.credentials.admin, cookie: true }, headers);
const cookieOf = (response: Response) => response.headers.getSetCookie()[0]!.split(";")[0]!;
const me = (headers: Record<string, string>) => fetch(`${service.base}/api/auth/me`, { headers });
const codeOf = async (response: Response) => [response.status, ((await response.json()) as any).error.code];
const SAME = { "sec-fetch-site": "same-origin" };

describe("signing in by cookie", () => {
  test("sets a cookie that scripts cannot read and other sites cannot send, and returns no token", async () => {
    const response = await signIn();
    expect(response.status).toBe(200);
    expect(response.headers.getSetCookie()[0]).toMatch(
      /^svc-session=sess-svc-\S+; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Strict$/,
    );
    expect(await response.json()).toEqual({
      user: expect.any(Object),
      organization: expect.any(Object),
      expires_at: expect.any(String),
    });
    expect((await me({ cookie: cookieOf(response) })).status).toBe(200);
  });

  test("binds the cookie to the host and to https if the service has an https address", async () => {
    const secure = await startService({ BASE_URL: "https://assistant.example" });
    const response = await fetch(`${secure.base}/api/auth/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...secure.credentials.admin, cookie: true }),
    });
    expect(response.headers.getSetCookie()[0]).toMatch(/^__Host-svc-session=.+; Secure; SameSite=Strict$/);
  });

  test("is refused for other sites", async () => {
    expect(await codeOf(await signIn({ "sec-fetch-site": "cross-site" }))).toEqual([403, "cross_origin"]);
    expect(await codeOf(await signIn({ origin: "http://evil.example" }))).toEqual([403, "cross_origin"]);
  });

  test("without `cookie` returns a token and sets no cookie", async () => {
    const response = await post("/auth/login", service.credentials.admin);
    expect(response.headers.getSetCookie()).toEqual([]);
    expect(((await response.json()) as any).token).toMatch(/^sess-svc-/);
  });
});

describe("a session in a cookie", () => {
  test.each<[string, Record<string, string>, number]>([
    ["from a page of the service", SAME, 201],
    ["from another site", { "sec-fetch-site": "cross-site" }, 403],
    ["from another port of the same host", { "sec-fetch-site": "same-site" }, 403],
    ["from outside of a page", { "sec-fetch-site": "none" }, 403],
    ["with the origin of another site", { origin: "http://evil.example" }, 403],
    ["with an opaque origin", { origin: "null" }, 403],
    ["without any origin", {}, 403],
  ])("may change something %s: %j gives %i", async (_name, headers, status) => {
    const cookie = cookieOf(await signIn());
    const response = await post("/keys", { name: "K" }, { cookie, ...headers });
    expect(response.status).toBe(status);
    if (status === 403) expect(await codeOf(response)).toEqual([403, "cross_origin"]);
  });

  test("may make changes from the service's own origin, for browsers that send no Sec-Fetch-Site", async () => {
    const cookie = cookieOf(await signIn());
    expect((await post("/keys", { name: "K" }, { cookie, origin: service.base })).status).toBe(201);
  });

  test("is ignored beside an Authorization header", async () => {
    const cookie = cookieOf(await signIn());
    const response = await me({ cookie, authorization: "Bearer sk-svc-unknown" });
    expect(await codeOf(response)).toEqual([401, "invalid_api_key"]);
  });

  test("cannot contain an API key", async () => {
    const response = await me({ cookie: `svc-session=${service.credentials.api_key}` });
    expect(await codeOf(response)).toEqual([401, "invalid_session"]);
  });

  test("ends at sign-out, which removes the cookie", async () => {
    const cookie = cookieOf(await signIn());
    const response = await post("/auth/logout", {}, { cookie, ...SAME });
    expect([response.status, response.headers.getSetCookie()[0]]).toEqual([
      204,
      expect.stringMatching(/^svc-session=; Max-Age=0; Path=\//),
    ]);
    expect((await me({ cookie })).status).toBe(401);
  });
});

describe("the one-time link", () => {
  test("signs in once", async () => {
    const { organization_id, admin } = service.credentials;
    const { email } = admin;
    const code = service.startCodes!.create({ organization_id, email });
    expect(await codeOf(await post("/auth/start", { code }, { "sec-fetch-site": "cross-site" }))).toEqual([
      403,
      "cross_origin",
    ]);
    const response = await post("/auth/start", { code }, SAME);
    expect([response.status, ((await response.json()) as any).user.email]).toEqual([200, email]);
    expect((await me({ cookie: cookieOf(response) })).status).toBe(200);
    expect(await codeOf(await post("/auth/start", { code }, SAME))).toEqual([401, "invalid_start_code"]);
    expect(await codeOf(await post("/auth/start", { code: "unknown" }, SAME))).toEqual([401, "invalid_start_code"]);
  });

  test("works for ten minutes", () => {
    let now = 0;
    const codes = createStartCodes(() => now);
    const person = { organization_id: "o", email: "a@x" };
    const [early, late] = [codes.create(person), codes.create(person)];
    now = 10 * 60_000 - 1;
    expect(codes.redeem(early)).toEqual(person);
    now = 10 * 60_000;
    expect(codes.redeem(late)).toBeUndefined();
  });

  test("is printed only on a terminal; elsewhere the address has no code", () => {
    const credentials = { ...service.credentials, base_url: "http://h" };
    expect(consoleLink(credentials, () => "code")).toBe("http://h/console/#start=code");
    expect(consoleLink(credentials, undefined)).toBe("http://h/console/");
  });

  test.each([true, false])("is printed on the first line, on a terminal: %s", (showSecrets) => {
    const link = "http://h/console/#start=code";
    const welcome = { address: "http://h", nats_url: "nats://u:p@h:1", showSecrets, link };
    const printed = formatWelcome(readSettings({}), welcome, service.credentials);
    expect(printed.trimStart().split("\n")[0]).toMatch(/^Console +http:\/\/h\/console\/#start=code$/);
  });
});
