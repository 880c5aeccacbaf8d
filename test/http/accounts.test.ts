import { describe, expect, test } from "vitest";
import { cleanUp } from "#infra/postgres/cleanUp.ts";
import { clientOf, say, startService } from "./service.ts";
import { ALONE } from "../sharedPlatform.ts";

const service = await startService(ALONE);
const api = `${service.base}/api`;

const anyone = () => clientOf(service, "sk-svc-nobody");
const login = (password = service.credentials.admin.password, email = service.credentials.admin.email) =>
  anyone()("POST", `${api}/auth/login`, { email, password });
const person = clientOf(service, (await login()).body.token);

describe("a session", () => {
  test("starts with the correct password, shows its person, and ends on logout", async () => {
    const { status, body } = await login();
    expect(status).toBe(200);
    expect(body).toEqual({
      token: expect.stringMatching(/^sess-svc-[\w-]{43}$/),
      expires_at: expect.any(String),
      user: { id: expect.any(String), email: service.credentials.admin.email, name: "Administrator", role: "owner" },
      organization: { id: service.credentials.organization_id, name: "First" },
    });
    const me = clientOf(service, body.token);
    expect((await me("GET", `${api}/auth/me`)).body).toEqual({ user: body.user, organization: body.organization });
    expect((await me("POST", `${api}/auth/logout`)).status).toBe(204);
    const after = await me("GET", `${api}/auth/me`);
    expect([after.status, after.body.error.code]).toEqual([401, "invalid_session"]);
  });

  test("can use the chat API like a key, with its own threads", async () => {
    const { status, headers } = await person("POST", "/chat/completions", say("From a person"));
    expect(status).toBe(200);
    const key = clientOf(service, service.credentials.api_key);
    const thread = { "x-thread-id": headers.get("x-thread-id")! };
    expect((await person("POST", "/chat/completions", say("Again"), thread)).status).toBe(200);
    expect((await key("POST", "/chat/completions", say("Again"), thread)).body.error.code).toBe("thread_not_found");
  });

  test("ends after 12 hours without use, and at its expiry", async () => {
    const { body } = await login();
    const me = clientOf(service, body.token);
    await me("GET", `${api}/auth/me`);
    const session = "(select id from read.sessions order by started_at desc limit 1)";
    await service.db.query(
      `insert into ops.last_used select id::text, now() - interval '12 hours 1 second' from ${session} s
       on conflict (id) do update set at = excluded.at`,
    );
    expect((await me("GET", `${api}/auth/me`)).body.error.code).toBe("invalid_session");
    await service.db.query(`update ops.last_used set at = now() where id = ${session}::text`);
    expect((await me("GET", `${api}/auth/me`)).status).toBe(200);
    await service.db.query(`update read.sessions set expires_at = now() where id = ${session}`);
    expect((await me("GET", `${api}/auth/me`)).body.error.code).toBe("invalid_session");
  });

  test("does not start with a wrong password or an unknown address, which get the same answer and are throttled per account", async () => {
    const { admin } = await service.organization("Guessed");
    const wrong = await login("wrong", admin.email);
    const unknown = await login("wrong", "nobody@nowhere.example");
    expect([wrong.status, wrong.body]).toEqual([401, unknown.body]);
    for (let n = 1; n < 10; n++) await login("wrong", admin.email);
    const { status, body, headers } = await login(admin.password, admin.email);
    expect([status, body.error.code]).toEqual([429, "too_many_attempts"]);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    expect(headers.get("x-should-retry")).toBe("true");
  });

  test("is required on routes for people", async () => {
    const key = clientOf(service, service.credentials.api_key);
    for (const [method, path] of [
      ["GET", "/auth/me"],
      ["GET", "/keys"],
      ["POST", "/keys"],
      ["GET", "/providers"],
    ] as const) {
      const { status, body } = await key(method, api + path);
      expect([status, body.error.code]).toEqual([403, "session_required"]);
    }
  });
});

describe("API keys", () => {
  const create = (body: object, headers?: Record<string, string>) => person("POST", `${api}/keys`, body, headers);
  const use = async (key: string) => {
    const { status, body } = await clientOf(service, key)("GET", "/models");
    return [status, body.error?.code];
  };

  test("are shown once, listed, changed with immediate effect, and deleted", async () => {
    const { status, body } = await create({ name: "Build server" });
    expect(status).toBe(201);
    const { key, ...shown } = body;
    expect(key).toMatch(/^sk-svc-[\w-]{43}$/);
    expect(shown).toEqual({
      id: expect.any(String),
      name: "Build server",
      key_hint: key.slice(-4),
      project_id: null,
      products: ["knowledge", "extraction"],
      expires_at: null,
      enabled: true,
      allowed_models: null,
      client_tools: false,
      last_used_at: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const list = (await person("GET", `${api}/keys?limit=1&offset=-3`)).body;
    expect(list).toMatchObject({ data: [{ id: body.id }], limit: 1, offset: 0 });
    expect(JSON.stringify(list)).not.toContain(key);
    expect(await use(key)).toEqual([200, undefined]);

    const change = (changes: object) => person("PATCH", `${api}/keys/${body.id}`, changes);
    expect((await change({ enabled: false, name: "Old server" })).body).toMatchObject({
      enabled: false,
      name: "Old server",
    });
    expect(await use(key)).toEqual([401, "api_key_disabled"]);
    await change({ enabled: true, expires_at: new Date(Date.now() - 1000).toISOString() });
    expect(await use(key)).toEqual([401, "expired_api_key"]);
    await change({ expires_at: null, allowed_models: ["offline/echo"] });
    const limited = clientOf(service, key);
    expect((await limited("GET", "/models")).body.data.map(({ id }: { id: string }) => id)).toEqual(["offline/echo"]);
    expect((await limited("POST", "/chat/completions", say("x", { model: "offline/scripted" }))).body.error.code).toBe(
      "model_not_found",
    );

    expect((await person("DELETE", `${api}/keys/${body.id}`)).status).toBe(204);
    expect(await use(key)).toEqual([401, "invalid_api_key"]);
    expect((await person("DELETE", `${api}/keys/${body.id}`)).body.error.code).toBe("key_not_found");
  });

  test("that are deleted leave no trace of when they were used", async () => {
    const { body } = await person("POST", `${api}/keys`, { name: "Passing" });
    await service.db.query("insert into ops.last_used select id::text, now() from read.keys on conflict do nothing");
    await person("DELETE", `${api}/keys/${body.id}`);
    await cleanUp(
      {
        db: service.db,
        clock: { isOpen: () => true },
        blobs: { async *foldersOlderThan() {}, removeAll: async () => {}, removePartsOlderThan: async () => {} },
        dataKeys: { find: async () => new Map() },
        onError: (error) => expect.fail(String(error)),
      },
      AbortSignal.timeout(500),
    );
    const kept = await service.db.query<{ id: string }>("select id from ops.last_used");
    const ids = kept.map(({ id }) => id);
    expect(ids).not.toContain(body.id);
    expect(ids.length).toBeGreaterThan(0);
  });

  test("are refused while their stream is parked", async () => {
    const { key, id } = (await create({ name: "Parked" })).body;
    await service.db.query(
      "insert into log.parked (projection, stream, position, error) values ('keys', $1, 1, 'test')",
      [`key-${id}`],
    );
    expect(await use(key)).toEqual([401, "invalid_api_key"]);
    await service.db.query("delete from log.parked");
  });

  test("whose creation is repeated show no secret again, and their Idempotency-Key refuses another body", async () => {
    const once = { "idempotency-key": "make-key-1" };
    const first = await create({ name: "Once" }, once);
    const again = await create({ name: "Once" }, once);
    const { key, ...shown } = first.body;
    expect([again.status, again.body]).toEqual([201, shown]);
    expect(await use(key)).toEqual([200, undefined]);
    const other = await create({ name: "Other" }, once);
    expect([other.status, other.body.error.code]).toEqual([422, "idempotency_key_reused"]);
  });

  test("have names", async () => {
    expect((await create({ name: "" })).body.error.param).toBe("name");
    expect((await create({ name: 5 })).status).toBe(400);
  });
});

describe("model providers", () => {
  const at = (name: string) => `${api}/providers/${name}`;

  test("are configured, listed without their secret, and removed", async () => {
    const body = { api_key: "sk-very-secret", base_url: "https://models.example/v1", models: ["tiny"] };
    const put = await person("PUT", at("acme"), body);
    expect(put.body).toEqual({
      name: "acme",
      base_url: body.base_url,
      models: ["tiny"],
      format: "openai",
      context_windows: null,
      model: null,
      dimensions: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const list = await person("GET", `${api}/providers`);
    expect(list.body).toMatchObject({ total: 1, limit: 50, offset: 0, data: [{ name: "acme" }] });
    expect(list.text).not.toContain("secret");
    expect((await person("GET", at("acme"))).body).toEqual(put.body);
    expect((await person("DELETE", at("acme"))).status).toBe(204);
    expect((await person("GET", at("acme"))).body.error.code).toBe("provider_not_found");
  });

  test("are limited to fifty, and an existing one can always be changed", async () => {
    const settings = { api_key: "k", base_url: "http://127.0.0.1:9/v1" };
    const configured = async (name: string) => (await person("PUT", at(name), settings)).status;
    const { total } = (await person("GET", `${api}/providers`)).body;
    const names = Array.from({ length: 50 - total }, (_, n) => `many${n}`);
    for (const name of names) expect(await configured(name)).toBe(200);
    const refused = await person("PUT", at("one-more"), settings);
    expect([refused.status, refused.body.error.code]).toEqual([409, "too_many_providers"]);
    expect(await configured(names[0]!)).toBe(200);
    for (const name of names) expect((await person("DELETE", at(name))).status).toBe(204);
    expect(await configured("one-more")).toBe(200);
    await person("DELETE", at("one-more"));
  });

  test("lose the data key of a credential that is replaced or removed", async () => {
    const keys = async () => (await service.db.query("select from log.keys where thing like 'credential-%'")).length;
    const before = await keys();
    await person("PUT", at("brief"), { api_key: "first", base_url: "https://models.example/v1" });
    await person("PUT", at("brief"), { api_key: "second", base_url: "https://models.example/v1" });
    expect(await keys()).toBe(before + 1);
    await person("DELETE", at("brief"));
    expect(await keys()).toBe(before);
  });

  test.each([
    ["acme", { api_key: "x" }, "base_url"],
    ["acme", { api_key: "x", base_url: "file:///etc/passwd" }, "base_url"],
    ["acme", { api_key: "x", base_url: "https://user:pass@models.example" }, "base_url"],
    ["acme", { api_key: "x", base_url: "https://models.example/v1?api-key=x" }, "base_url"],
    ["openai", { api_key: "x", base_url: "https://models.example/v1#x" }, "base_url"],
    ["web_search", { api_key: "x", base_url: "https://search.example/?" }, "base_url"],
    ["openai", { api_key: "x", format: "google" }, "format"],
    ["web_search", { api_key: "x", format: "google" }, "format"],
    ["acme", { api_key: "x", format: "mistral" }, "format"],
    ["openai", { api_key: "" }, "api_key"],
    ["openai", { api_key: "two words" }, "api_key"],
    ["offline", { api_key: "x" }, "name"],
    ["No Name", { api_key: "x" }, "name"],
  ])("named %s with %j are refused for their %s", async (name, body, param) => {
    const answer = await person("PUT", at(encodeURIComponent(name)), body);
    expect([answer.status, answer.body.error.param]).toEqual([400, param]);
  });
});
