import { expect, test } from "vitest";
import { defaultPrice } from "#events/defaultPrices.ts";
import { newId } from "#events/ids.ts";
import { ProviderConfigured, providerStream, type ProviderFormat } from "#events/provider.ts";
import { findModelAccess } from "./modelAccess.ts";

const organization = newId();
const MODEL = "claude-sonnet-4-5";

/** Access to a model of a provider with these settings. */
function access(name: string, settings: { format?: ProviderFormat; base_url?: string }) {
  const stream = providerStream(organization, name);
  const data = { name, credential_id: newId(), base_url: null, models: null, ends_credential_id: null, ...settings };
  const event = { ...ProviderConfigured.of(data, { sealed_api_key: "sealed" }), stream, version: 1 };
  const log = {
    heads: async () => new Map([[stream, { stream, version: 1, state: null }]]),
    read: async () => [event],
  };
  const from = { log, keyring: { openSecret: () => "key" }, deployment: [], offline: false };
  return findModelAccess(from as never, organization, `${name}/${MODEL}`);
}

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
