import { z } from "zod";
import { defineTool, type Tool } from "./tool.ts";
import type { Web } from "./web.ts";

const DEFAULT_LIMIT = 8;
const MAX_LIMIT = 20;

const input = z.object({
  query: z.string().trim().min(1).max(1_000).describe("What to search the web for."),
  limit: z
    .number()
    .transform((wanted) => Math.min(Math.max(1, Math.trunc(wanted)), MAX_LIMIT))
    .optional()
    .describe(`Number of results. Default: ${DEFAULT_LIMIT}, maximum: ${MAX_LIMIT}.`),
});

/** Pages of the web, best first, as JSON `{results: [{url, title, snippet}]}`. */
export const webSearch = (web: Web): Tool<"web_search"> =>
  defineTool({
    name: "web_search",
    description:
      "Searches the web and returns addresses with titles and short excerpts. web_fetch reads a page in full. Cite the addresses that you use.",
    input,
    async run({ query, limit }, { organization_id, signal }) {
      const results = await web.search(organization_id, query, limit ?? DEFAULT_LIMIT, signal);
      return { text: JSON.stringify({ results }), sources: results.map(({ url, title }) => ({ url, title })) };
    },
  });
