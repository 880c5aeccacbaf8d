import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ProviderRow } from "#http/catalog.ts";
import { startProvider, type Provider } from "#test/doubles/provider.ts";
import { openCatalog } from "./index.ts";

const ORGANIZATION = "0198a000-0000-7000-8000-000000000001";
let provider: Provider;
beforeEach(async () => {
  provider = await startProvider();
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
  test("has the offline models where they are on", async () => {
    expect(await catalog({ offline: true }).list(ORGANIZATION, [])).toEqual(
      ["echo", "extractive", "scripted"].map((name) => ({ id: `offline/${name}`, created: 0, owned_by: "offline" })),
    );
    expect(await ids([])).toEqual([]);
  });

  test("has what a provider lists and what was configured", async () => {
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

  test("has the deployment's provider, unless the organization has its own of that name", async () => {
    expect(await ids([], { deployment: [shared()] })).toEqual(["openai/gpt-other", "openai/gpt-test"]);
    await ids([row({ name: "openai" })], { deployment: [shared()] });
    expect(provider.requests.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer sk-shared",
      "Bearer sk-mine",
    ]);
  });

  test("is asked for once, by however many, and again after five minutes", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const one = catalog();
    await Promise.all(Array.from({ length: 20 }, () => one.list(ORGANIZATION, [row()])));
    await one.find(ORGANIZATION, [row()], "mine/gpt-test");
    expect(provider.requests).toHaveLength(1);
    vi.advanceTimersByTime(5 * 60_000 + 1);
    await one.list(ORGANIZATION, [row()]);
    expect(provider.requests).toHaveLength(2);
  });

  test("of one organization is not another's, nor is that of an older key", async () => {
    const one = catalog();
    await one.list(ORGANIZATION, [row()]);
    await one.list("another", [row()]);
    await one.list(ORGANIZATION, [row({ sealed_api_key: `sealed:${ORGANIZATION}:mine:sk-new` })]);
    expect(provider.requests).toHaveLength(3);
  });

  test("stays in force while the provider is down", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const one = catalog();
    await one.list(ORGANIZATION, [row()]);
    provider.script({ status: 500 });
    vi.advanceTimersByTime(5 * 60_000 + 1);
    expect(await one.list(ORGANIZATION, [row()])).toHaveLength(2);
    await one.list(ORGANIZATION, [row()]);
    expect(provider.requests).toHaveLength(2);
    vi.advanceTimersByTime(30_001);
    await one.list(ORGANIZATION, [row()]);
    expect(provider.requests).toHaveLength(3);
  });

  test.each([
    ["refuses", () => provider.script({ status: 401 })],
    ["hangs", () => provider.script({ write: () => undefined })],
    ["answers with something else", () => provider.script({ status: 200, body: "hello" })],
    [
      "lists nothing that can be read",
      () => provider.script({ status: 200, body: { data: [null, { id: 5 }, { id: "" }] } }),
    ],
  ])("of a provider that %s has the configured models, and others' lists", async (_, misbehave) => {
    const healthy = await startProvider();
    misbehave();
    const rows = [row({ models: ["tuned"] }), row({ name: "other", base_url: healthy.url })];
    const privateHosts = [provider, healthy].map(({ url }) => new URL(url).host);
    expect(await ids(rows, { privateHosts })).toEqual(["mine/tuned", "other/gpt-other", "other/gpt-test"]);
    await healthy.close();
  });

  test("asks no private address that a tenant named, and survives a key that cannot be opened", async () => {
    expect(await ids([row({ models: ["tuned"] })], { privateHosts: [] })).toEqual(["mine/tuned"]);
    const broken = () => {
      throw new Error("sealed under another key");
    };
    expect(await ids([row({ models: ["tuned"] })], { unseal: broken })).toEqual(["mine/tuned"]);
    expect(provider.requests).toEqual([]);
  });

  test("leaves out providers that have no address, and another's `offline`", async () => {
    const rows = [
      row({ name: "anthropic", base_url: null, models: ["claude"] }),
      row({ name: "offline", models: ["fake"] }),
    ];
    expect(await ids(rows)).toEqual([]);
  });
});

describe("finding a model", () => {
  const find = (id: string, rows = [row({ models: ["tuned/v2"] })], options = {}) =>
    catalog(options).find(ORGANIZATION, rows, id);

  test.each(["mine/gpt-test", "mine/tuned/v2", "openai/gpt-test", "offline/echo"])(
    "%s is found as it is listed",
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
  ])("%j is not there", async (id) => {
    expect(await find(id)).toBeUndefined();
  });

  test("a configured model needs no list", async () => {
    await find("mine/tuned/v2");
    expect(provider.requests).toEqual([]);
  });

  test("a provider whose list cannot be had decides itself", async () => {
    provider.script({ status: 404 });
    expect(await find("mine/whatever")).toEqual({ id: "mine/whatever", created: 0, owned_by: "mine" });
  });
});
