import { expect, test } from "vitest";
import { defaultPrice } from "#events/defaultPrices.ts";
import { newId } from "#events/ids.ts";
import { priceStream, PricesSet, type ModelPrice } from "#events/price.ts";
import { ProviderConfigured, providerStream, type ProviderFormat } from "#events/provider.ts";
import { findModelAccess, findRouteWindow } from "./modelAccess.ts";

const organization = newId();
const MODEL = "claude-sonnet-4-5";

interface Settings {
  format?: ProviderFormat;
  base_url?: string;
  context_windows?: Record<string, number>;
}

/** An organization with one provider, and its own prices of one model. */
function organizationWith(name: string, settings: Settings, own?: { model: string; prices: ModelPrice[] }) {
  const stream = providerStream(organization, name);
  const data = { name, credential_id: newId(), base_url: null, models: null, ends_credential_id: null, ...settings };
  const event = { ...ProviderConfigured.of(data, { sealed_api_key: "sealed" }), stream, version: 1 };
  const events = new Map<string, object>([[stream, event]]);
  if (own) events.set(priceStream(organization, own.model), PricesSet.of(own));
  const log = {
    heads: async () => new Map([...events.keys()].map((of) => [of, { stream: of, version: 1, state: null }])),
    read: async (of: string) => [events.get(of)],
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

test("a published price is valid until the first price of the organization's own list begins", async () => {
  const published = defaultPrice(`anthropic/${MODEL}`);
  const model = `anthropic/${MODEL}`;
  const price = { valid_from: null, input: "1", output: "2" };
  const from = (ms: number) => ({ ...price, valid_from: new Date(Date.now() + ms).toISOString() });
  const priceWith = async (...prices: ModelPrice[]) =>
    (await findModelAccess(organizationWith("anthropic", {}, { model, prices }), organization, model)).price;
  expect(await priceWith(from(60_000))).toEqual(published);
  expect(await priceWith(from(-60_000))).toMatchObject({ input: "1" });
  expect(await priceWith(from(60_000), price)).toEqual(price);
});
