import { expect, test } from "vitest";
import { defaultPrice } from "#events/defaultPrices.ts";
import { newId } from "#events/ids.ts";
import { ProviderConfigured, providerStream, type ProviderFormat } from "#events/provider.ts";
import { findModelAccess, findRouteWindow } from "./modelAccess.ts";

const organization = newId();
const MODEL = "claude-sonnet-4-5";

interface Settings {
  format?: ProviderFormat;
  base_url?: string;
  context_windows?: Record<string, number>;
}

/** An organization with one provider. */
function organizationWith(name: string, settings: Settings) {
  const stream = providerStream(organization, name);
  const data = { name, credential_id: newId(), base_url: null, models: null, ends_credential_id: null, ...settings };
  const event = { ...ProviderConfigured.of(data, { sealed_api_key: "sealed" }), stream, version: 1 };
  const log = {
    heads: async () => new Map([[stream, { stream, version: 1, state: null }]]),
    read: async () => [event],
  };
  return { log, keyring: { openSecret: () => "key" }, deployment: [], offline: false } as never;
}

/** Access to a model of such a provider. */
const access = (name: string, settings: Settings, model = MODEL) =>
  findModelAccess(organizationWith(name, settings), organization, `${name}/${model}`);

test("a model's window is the organization's setting, or else the published one", async () => {
  expect((await access("acme", { base_url: "https://acme.example/v1" }, "large")).window).toBeUndefined();
  const context_windows = { large: 8_000, [MODEL]: 30_000 };
  expect((await access("acme", { context_windows }, "large")).window).toBe(8_000);
  expect((await access("claude-2", { format: "anthropic" })).window).toBe(200_000);
  expect((await access("claude-2", { format: "anthropic", context_windows })).window).toBe(30_000);
});

test("the window of an alias is the smallest known one of its models, or the largest where the next is asked when it is too small", async () => {
  const from = organizationWith("acme", { context_windows: { small: 8_000, large: 90_000 } });
  const find = (...targets: string[]) => findRouteWindow(from, organization, { targets, on: ["429"] });
  const models = ["acme/large", "acme/small", "other/model", "acme/unknown"];
  expect(await find(...models)).toBe(8_000);
  expect(await findRouteWindow(from, organization, { targets: models, on: ["context_length"] })).toBe(90_000);
  expect(await find("acme/gpt-4o-mini-2024-07-18")).toBe(128_000);
  expect(await find("other/model", "acme/unknown")).toBeUndefined();
});

test("published prices are those of the format's own address, whatever the provider is called", async () => {
  const published = defaultPrice(`anthropic/${MODEL}`);
  expect(published).toBeDefined();
  expect(await access("claude-2", { format: "anthropic" })).toMatchObject({
    price: published,
    credential: { provider: "claude-2", format: "anthropic", base_url: null, guarded: false },
  });
  expect((await access("anthropic", {})).price).toEqual(published);
  expect((await access("claude-2", { format: "anthropic", base_url: "https://proxy.example" })).price).toBeUndefined();
  expect((await access("claude-2", { base_url: "https://proxy.example/v1" })).price).toBeUndefined();
});
