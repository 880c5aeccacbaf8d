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

describe("search_documents has a collection to search", () => {
  /** Checks the tool when the read model lists `known` collections, and `current` ones once it has caught up. */
  const checkCollection = (known: number, current: number) => {
    let count = known;
    return checkToolsConfigured(
      {
        db: {
          query: async () => Array.from({ length: count }, (_, n) => ({ id: String(n), slug: `s${n}`, name: '"S"' })),
        },
        waitUntilCurrent: async (projections: string[]) => {
          expect(projections).toEqual(["collections"]);
          count = current;
        },
        settings: {},
      } as never,
      "o1",
      ["web_fetch", "search_documents"],
      { namesCollections: false, paramOf: (n) => `tools[${n}]` },
    );
  };

  test("that was created a moment ago, or before", async () => {
    await expect(checkCollection(1, 1)).resolves.toBeUndefined();
    await expect(checkCollection(0, 1)).resolves.toBeUndefined();
  });

  test("or not, which is a 400 tool_not_configured", () =>
    expect(checkCollection(0, 0)).rejects.toMatchObject({ errorCode: "tool_not_configured", param: "tools[1]" }));
});
