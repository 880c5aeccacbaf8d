import { z } from "zod";
import type { Knowledge } from "./knowledge.ts";
import { defineTool, type Tool } from "./tool.ts";

const input = z.object({
  document_id: z.string().describe("The document_id of a passage that search_documents returned."),
  from_seq: z
    .number()
    .int()
    .nonnegative()
    .optional()
    .describe("Where to begin: a passage's seq, or next_seq. 0 unless told."),
});

/** A window of one document's text, as JSON `{document_id, document, text, next_seq}`. */
export const readDocument = (knowledge: Knowledge): Tool =>
  defineTool({
    name: "read_document",
    description:
      "Reads one document of the organization, about 40,000 characters at a time. next_seq is where to go on, null at the end.",
    input,
    async run({ document_id, from_seq }, calling) {
      const { name, text, next_seq, url } = await knowledge.read(calling.organization_id, {
        document_id,
        from_seq: from_seq ?? 0,
        collections: calling.collections,
      });
      return {
        text: JSON.stringify({ document_id, document: name, text, next_seq }),
        sources: [{ url, title: name }],
      };
    },
  });
