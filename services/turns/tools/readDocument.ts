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
    .describe("The passage to start at: a passage's seq, or next_seq. Default: 0."),
});

/** A window of one document's text, as JSON `{document_id, document, text, next_seq}`. */
export const readDocument = (knowledge: Knowledge): Tool<"read_document"> =>
  defineTool({
    name: "read_document",
    description:
      "Reads one document of the organization, about 40,000 characters at a time. Continue with from_seq = next_seq, which is null at the end.",
    input,
    async run({ document_id, from_seq }, context) {
      const window = await knowledge.read(context.organization_id, {
        reader: context,
        document_id,
        from_seq: from_seq ?? 0,
        collections: context.collections,
      });
      const { name, text, next_seq, url, version, seq, start, end, warnings, table_header } = window;
      return {
        // fields without a value are left out
        text: JSON.stringify({ document_id, document: name, warnings, table_header, text, next_seq }),
        sources: [{ url, title: name, document_id, version, seq, start, end }],
      };
    },
  });
