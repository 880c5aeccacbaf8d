import { describe, expect, test } from "vitest";
import type { ProviderRow } from "./catalog.ts";
import { checkToolsConfigured } from "./toolNames.ts";

const WEB: ProviderRow = { name: "web_search", base_url: "https://search.example", models: null, sealed_api_key: "" };

/** Checks web_search with the providers that this process has cached, and those that are configured. */
const check = (cached: ProviderRow[], configured: ProviderRow[], WEB_SEARCH_URL?: string) =>
  checkToolsConfigured(
    {
      db: {},
      settings: { WEB_SEARCH_URL },
      providers: { recent: async () => cached, readNow: async () => configured },
    } as never,
    "o1",
    ["web_fetch", "web_search"],
    { namesCollections: false, paramOf: (n) => `tools[${n}]` },
  );

describe("web_search is configured", () => {
  test.each<[string, ProviderRow[], ProviderRow[], string?]>([
    ["by the deployment", [], [], "https://search.example"],
    ["by the organization", [WEB], [WEB]],
    ["by the organization a moment ago, through another process", [], [WEB]],
  ])("%s", async (_, cached, configured, url) => {
    await expect(check(cached, configured, url)).resolves.toBeUndefined();
  });

  test("by nobody, which is a 400 tool_not_configured", () =>
    expect(check([], [])).rejects.toMatchObject({ errorCode: "tool_not_configured", param: "tools[1]" }));
});
