import { z } from "zod";
import { defineTool, ToolError, type Tool } from "./tool.ts";
import type { Web } from "./web.ts";

/** UTF-16 units per call, as for `read_document`. */
const WINDOW = 40_000;

const input = z.object({
  url: z.url().max(4_000).describe("Address of the page, http or https."),
  from: z.number().int().min(0).optional().describe("The offset to start at: the `next` of the previous answer."),
});

/** A page as Markdown, in JSON `{url, title, text, next}`; `next` is null at its end. */
export const webFetch = (web: Web): Tool<"web_fetch"> =>
  defineTool({
    name: "web_fetch",
    description: `Reads a page or a file of the web as Markdown, about ${WINDOW} characters per call; call again with from = next for the rest.`,
    input,
    async run({ url, from = 0 }, { organization_id, signal }) {
      const page = await web.read(organization_id, url, signal);
      if (from > page.text.length) throw new ToolError(`from: the page has ${page.text.length} characters.`);
      const end = from + WINDOW;
      const next = end < page.text.length ? end : null;
      const answer = { url: page.url, title: page.title, text: page.text.slice(from, end).toWellFormed(), next };
      return { text: JSON.stringify(answer), sources: [{ url: page.url, title: page.title }] };
    },
  });
