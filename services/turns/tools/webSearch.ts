import { z } from "zod";
import { defineTool, resultLimitArgument, type Tool } from "./tool.ts";
import type { Web } from "./web.ts";

const LIMITS = { usual: 8, most: 20 };

const input = z.object({
  query: z.string().trim().min(1).max(1_000).describe("What to search the web for."),
  limit: resultLimitArgument("results", LIMITS),
});

/** Pages of the web, best first, as JSON `{results: [{url, title, snippet}]}`. */
export const webSearch = (web: Web): Tool<"web_search"> =>
  defineTool({
    name: "web_search",
    description:
      "Searches the web and returns addresses with titles and short excerpts. web_fetch reads a page in full. Cite the addresses that you use.",
    input,
    async run({ query, limit }, { organization_id, signal }) {
      const results = await web.search(organization_id, query, limit ?? LIMITS.usual, signal);
      return { text: JSON.stringify({ results }), sources: results.map(({ url, title }) => ({ url, title })) };
    },
  });
