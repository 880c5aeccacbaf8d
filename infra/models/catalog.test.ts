import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ProviderRow } from "#http/base/catalog.ts";
import { longestTurn } from "#test/computingTime.ts";
import { startAnthropic } from "#test/doubles/anthropic.ts";
import { startGoogle } from "#test/doubles/google.ts";
import { startOpenai, type OpenaiDouble } from "#test/doubles/openai.ts";
import { openCatalog } from "./index.ts";

const ORGANIZATION = "0198a000-0000-7000-8000-000000000001";
let provider: OpenaiDouble;
beforeEach(async () => {
  provider = await startOpenai();
});
afterEach(async () => {
  vi.useRealTimers();
  await provider.close();
});

const unseal = (organization: string, name: string, sealed: string) =>
  sealed.replace(`sealed:${organization}:${name}:`, "");
const row = ({ name = "mine", ...more }: Partial<ProviderRow> = {}): ProviderRow => ({
  name,
  base_url: provider.url,
  models: null,
  sealed_api_key: `sealed:${ORGANIZATION}:${name}:sk-mine`,
  ...more,
});
const catalog = (more: Partial<Parameters<typeof openCatalog>[0]> = {}) =>
  openCatalog({ offline: false, deployment: [], unseal, privateHosts: [new URL(provider.url).host], ...more });
const ids = async (rows: ProviderRow[], options = {}) =>
  (await catalog(options).list(ORGANIZATION, rows)).map(({ id }) => id);
const shared = () => ({ provider: "openai", api_key: "sk-shared", base_url: provider.url, guarded: false });

describe("the list", () => {
  test("has the offline models if they are on", async () => {
    expect(await catalog({ offline: true }).list(ORGANIZATION, [])).toEqual(
      ["echo", "extractive", "scripted"].map((name) => ({ id: `offline/${name}`, created: 0, owned_by: "offline" })),
    );
    expect(await ids([])).toEqual([]);
  });

  test("has the listed models and the configured ones", async () => {
    const models = await catalog().list(ORGANIZATION, [row({ models: ["tuned/v2", "gpt-test", "tuned/v2"] })]);
    expect(models).toEqual([
      { id: "mine/gpt-other", created: 1_700_000_000, owned_by: "test" },
      { id: "mine/gpt-test", created: 0, owned_by: "mine" },
      { id: "mine/tuned/v2", created: 0, owned_by: "mine" },
    ]);
    expect(provider.requests[0]).toMatchObject({
      method: "GET",
      path: "/v1/models",
      headers: { authorization: "Bearer sk-mine" },
    });
  });

  test("is in the order of its ids, whatever the order of providers and whatever their names begin with", async () => {
    const rows = [row({ name: "zebra" }), row({ name: "mine" }), row({ name: "mine-too", models: ["a"] })];
    const listed = await ids(rows, { offline: true });
    expect(listed).toHaveLength(10);
    expect(listed).toEqual(listed.toSorted());
  });

  test("has the deployment's provider, unless the organization has one of the same name", async () => {
    expect(await ids([], { deployment: [shared()] })).toEqual(["openai/gpt-other", "openai/gpt-test"]);
    await ids([row({ name: "openai" })], { deployment: [shared()] });
    expect(provider.requests.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer sk-shared",
      "Bearer sk-mine",
    ]);
  });

  test("is fetched once for many requests, and again after five minutes", async () => {
    vi.useFakeTimers({ toFake: ["Date", "performance"] });
    const one = catalog();
    await Promise.all(Array.from({ length: 20 }, () => one.list(ORGANIZATION, [row()])));
    await one.find(ORGANIZATION, [row()], "mine/gpt-test");
    expect(provider.requests).toHaveLength(1);
    vi.advanceTimersByTime(5 * 60_000 + 1);
    await Promise.all(Array.from({ length: 20 }, () => one.list(ORGANIZATION, [row()])));
    await expect.poll(() => provider.requests).toHaveLength(2);
  });

  test("stays available while it is fetched again", async () => {
    vi.useFakeTimers({ toFake: ["Date", "performance"] });
    const one = catalog();
    await one.list(ORGANIZATION, [row()]);
    const held: ServerResponse[] = [];
    provider.script({ write: (response) => void held.push(response) });
    vi.advanceTimersByTime(5 * 60_000 + 1);
    expect(await one.list(ORGANIZATION, [row()])).toHaveLength(2);
    await expect.poll(() => held).toHaveLength(1);
    expect(await one.list(ORGANIZATION, [row()])).toHaveLength(2);
    held[0]!.writeHead(200, { "content-type": "application/json" }).end('{"data":[{"id":"gpt-new"}]}');
    await expect
      .poll(async () => (await one.list(ORGANIZATION, [row()])).map(({ id }) => id))
      .toEqual(["mine/gpt-new"]);
  });

  test("does not wait for a provider that has not answered yet", async () => {
    const healthy = await startOpenai();
    const held: ServerResponse[] = [];
    provider.script({ write: (response) => void held.push(response) });
    const rows = [row(), row({ name: "other", base_url: healthy.url })];
    const one = catalog({ privateHosts: [provider, healthy].map(({ url }) => new URL(url).host) });
    for (let n = 0; n < 3; n += 1)
      expect((await one.list(ORGANIZATION, rows)).map(({ id }) => id)).toEqual(["other/gpt-other", "other/gpt-test"]);
    // the first request is still open
    expect([held.length, held[0]!.destroyed]).toEqual([1, false]);
    expect(await one.find(ORGANIZATION, rows, "other/gpt-test")).toMatchObject({ id: "other/gpt-test" });
    expect([held.length, held[0]!.destroyed]).toEqual([1, false]);
    held[0]!.writeHead(200, { "content-type": "application/json" }).end('{"data":[{"id":"late"}]}');
    await expect
      .poll(async () => (await one.list(ORGANIZATION, rows)).map(({ id }) => id))
      .toEqual(["mine/late", "other/gpt-other", "other/gpt-test"]);
    await healthy.close();
  });

  test("is fetched per organization and per key", async () => {
    const one = catalog();
    await one.list(ORGANIZATION, [row()]);
    await one.list("another", [row()]);
    await one.list(ORGANIZATION, [row({ sealed_api_key: `sealed:${ORGANIZATION}:mine:sk-new` })]);
    expect(provider.requests).toHaveLength(3);
  });

  test("stays valid while the provider is down", async () => {
    vi.useFakeTimers({ toFake: ["Date", "performance"] });
    const one = catalog();
    await one.list(ORGANIZATION, [row()]);
    provider.script({ status: 500 });
    vi.advanceTimersByTime(5 * 60_000 + 1);
    expect(await one.list(ORGANIZATION, [row()])).toHaveLength(2);
    await expect.poll(() => provider.requests).toHaveLength(2);
    await one.find(ORGANIZATION, [row()], "mine/unknown");
    await one.list(ORGANIZATION, [row()]);
    expect(provider.requests).toHaveLength(2);
    vi.advanceTimersByTime(30_001);
    expect(await one.list(ORGANIZATION, [row()])).toHaveLength(2);
    await expect.poll(() => provider.requests).toHaveLength(3);
  });

  test.each([
    ["refuses", () => provider.script({ status: 401 })],
    ["hangs", () => provider.script({ write: () => undefined })],
    ["answers with no list", () => provider.script({ status: 200, body: "hello" })],
    ["lists nothing readable", () => provider.script({ status: 200, body: { data: [null, { id: 5 }, { id: "" }] } })],
  ])("with a provider that %s has the configured models, and the other providers' lists", async (_, misbehave) => {
    const healthy = await startOpenai();
    misbehave();
    const rows = [row({ models: ["tuned"] }), row({ name: "other", base_url: healthy.url })];
    const privateHosts = [provider, healthy].map(({ url }) => new URL(url).host);
    expect(await ids(rows, { privateHosts })).toEqual(["mine/tuned", "other/gpt-other", "other/gpt-test"]);
    await healthy.close();
  });

  test("sends no request to a private address that a tenant named, and survives a key that cannot be unsealed", async () => {
    expect(await ids([row({ models: ["tuned"] })], { privateHosts: [] })).toEqual(["mine/tuned"]);
    const broken = () => {
      throw new Error("sealed under another key");
    };
    expect(await ids([row({ models: ["tuned"] })], { unseal: broken })).toEqual(["mine/tuned"]);
    expect(provider.requests).toEqual([]);
  });

  test("leaves out providers without an address, and a provider named `offline`", async () => {
    const rows = [
      row({ name: "mistral", base_url: null, models: ["large"] }),
      row({ name: "offline", models: ["fake"] }),
    ];
    expect(await ids(rows)).toEqual([]);
  });
});

describe("the list of a provider with an API of its own", () => {
  const own = async (name: string, started: { url: string; close(): Promise<void> }, key: string) => {
    const rows = [row({ name, base_url: started.url, sealed_api_key: `sealed:${ORGANIZATION}:${name}:${key}` })];
    const one = catalog({ privateHosts: [new URL(started.url).host] });
    return { list: () => one.list(ORGANIZATION, rows), find: (id: string) => one.find(ORGANIZATION, rows, id) };
  };

  test("has limits and capabilities for Anthropic", async () => {
    const anthropic = await startAnthropic();
    const { list, find } = await own("anthropic", anthropic, "sk-ant-x");
    const created = Date.UTC(2026, 1, 1) / 1_000;
    const details = { created, owned_by: "anthropic", context_window: 200_000, max_output_tokens: 64_000 };
    const capabilities = ["image_input", "pdf_input", "reasoning", "structured_outputs"];
    expect(await list()).toEqual([
      { id: "anthropic/claude-fable-5", ...details, capabilities },
      { id: "anthropic/claude-haiku-4-5", ...details, capabilities: capabilities.filter((one) => one !== "pdf_input") },
      { id: "anthropic/claude-opus-5", ...details, capabilities },
    ]);
    expect(await find("anthropic/claude-opus-5")).toEqual({ id: "anthropic/claude-opus-5", ...details, capabilities });
    expect(await find("anthropic/gpt-test")).toBeUndefined();
    await anthropic.close();
  });

  test("is read in the format of its settings, whatever its name", async () => {
    const anthropic = await startAnthropic();
    const more = { name: "claude-2", format: "anthropic" as const, base_url: anthropic.url };
    const rows = [row({ ...more, sealed_api_key: `sealed:${ORGANIZATION}:claude-2:sk-ant-x` })];
    const one = catalog({ privateHosts: [new URL(anthropic.url).host] });
    expect(await one.find(ORGANIZATION, rows, "claude-2/claude-opus-5")).toMatchObject({ owned_by: "claude-2" });
    expect(anthropic.requests[0]!.headers["authorization"]).toBe("Bearer sk-ant-x");
    await anthropic.close();
  });

  test("is read page by page for Google, without models that cannot converse", async () => {
    const google = await startGoogle();
    const { list, find } = await own("google", google, "AIza-x");
    const details = { created: 0, owned_by: "google", context_window: 1_048_576, max_output_tokens: 65_536 };
    expect(await list()).toEqual([
      { id: "google/gemini-2.5-flash", ...details, capabilities: ["reasoning"] },
      { id: "google/gemini-4-pro", ...details, capabilities: ["reasoning"] },
      { id: "google/gemma-4-27b-it", ...details },
    ]);
    expect(await find("google/gemini-4-pro")).toMatchObject({ id: "google/gemini-4-pro" });
    expect(await find("google/gemini-embedding-2")).toBeUndefined();
    await google.close();
  });

  const BROKEN = [{}, { data: 5, models: 5 }, { data: [null, { id: 5 }], models: [{ name: 5 }, { name: "x" }] }];
  test.each(["anthropic", "google"].flatMap((name) => BROKEN.map((body) => [name, body] as const)))(
    "is empty for %s if it answers %j",
    async (name, body) => {
      provider.script({ status: 200, body });
      const rows = [row({ name, base_url: provider.url, models: ["tuned"] })];
      expect(await ids(rows)).toEqual([`${name}/tuned`]);
    },
  );
});

describe("what one organization can make large", () => {
  const body = (count: number, length: number) => ({
    data: Array.from({ length: count }, (_, n) => ({ id: String(n).padEnd(length, "x"), owned_by: "me" })),
  });

  test("fifty providers of 5,000 models each give one list of 10,000, in parts, between which other work runs", async () => {
    for (let n = 0; n < 50; n++) provider.script({ status: 200, body: body(5_000, 20) });
    const rows = Array.from({ length: 50 }, (_, n) => row({ name: `mine${n}` }));
    const one = catalog();
    await one.list(ORGANIZATION, rows);
    await expect.poll(async () => (await one.list(ORGANIZATION, rows)).length, { timeout: 10_000 }).toBe(10_000);
    let shown = 0;
    expect(
      await longestTurn(async () => {
        shown = (await one.list(ORGANIZATION, rows)).length;
      }),
    ).toBeLessThan(50);
    expect(shown).toBe(10_000);
  });

  test("a response that the first providers fill does not ask the others for their lists", async () => {
    for (let n = 0; n < 2; n++) provider.script({ status: 200, body: body(5_000, 20) });
    const rows = Array.from({ length: 50 }, (_, n) => row({ name: `mine${n}` }));
    const one = catalog();
    for (const name of ["mine0", "mine1"]) await one.find(ORGANIZATION, rows, `${name}/unknown`);
    const lists = await Promise.all(Array.from({ length: 20 }, () => one.list(ORGANIZATION, rows)));
    expect(lists.map(({ length }) => length)).toEqual(Array.from({ length: 20 }, () => 10_000));
    expect(provider.requests).toHaveLength(8);
  });

  test("the lists of fifty providers are asked for eight at a time, and all shown", async () => {
    let most = 0;
    let open = 0;
    const answer = (response: ServerResponse) => {
      most = Math.max(most, ++open);
      setTimeout(() => {
        open--;
        response.writeHead(200, { "content-type": "application/json" }).end('{"data":[{"id":"a"}]}');
      }, 20);
    };
    for (let n = 0; n < 50; n++) provider.script({ write: answer });
    const rows = Array.from({ length: 50 }, (_, n) => row({ name: `mine${n}` }));
    const one = catalog();
    await one.list(ORGANIZATION, rows);
    await expect.poll(async () => one.list(ORGANIZATION, rows)).toHaveLength(50);
    expect([provider.requests.length, most]).toEqual([50, 8]);
  });

  test("of long names a list keeps 200,000 characters", async () => {
    provider.script({ status: 200, body: body(5_000, 298) });
    expect(await ids([row()])).toHaveLength(Math.floor(200_000 / 300));
  });

  test("a provider whose key changes has one list", async () => {
    const one = catalog();
    const sealed = (key: string) => row({ sealed_api_key: `sealed:${ORGANIZATION}:mine:${key}` });
    for (const key of ["a", "b", "a"]) await one.list(ORGANIZATION, [sealed(key)]);
    expect(provider.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer a", "Bearer b", "Bearer a"]);
  });
});

describe("finding a model", () => {
  const find = (id: string, rows = [row({ models: ["tuned/v2"] })], options = {}) =>
    catalog(options).find(ORGANIZATION, rows, id);

  test.each(["mine/gpt-test", "mine/tuned/v2", "openai/gpt-test", "offline/echo"])(
    "%s is found with its listed fields",
    async (id) => {
      const options = { offline: true, deployment: [shared()] };
      const listed = await catalog(options).list(ORGANIZATION, [row({ models: ["tuned/v2"] })]);
      expect(await find(id, undefined, options)).toEqual(listed.find((info) => info.id === id));
    },
  );

  test.each([
    "mine/unknown",
    "mine/",
    "mine",
    "",
    "/",
    "unknown/gpt-test",
    "offline/echo",
    "offline/none",
    "constructor/x",
  ])("%j is not found", async (id) => {
    expect(await find(id)).toBeUndefined();
  });

  test("a configured model is found without a list", async () => {
    await find("mine/tuned/v2");
    expect(provider.requests).toEqual([]);
  });

  test("any model of a provider whose list cannot be fetched is found, and marked", async () => {
    provider.script({ status: 404 });
    expect(await find("mine/whatever")).toEqual({
      id: "mine/whatever",
      created: 0,
      owned_by: "mine",
      isUnlisted: true,
    });
  });
});
