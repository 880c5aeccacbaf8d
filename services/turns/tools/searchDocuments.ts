import { z } from "zod";
import type { Knowledge, KnowledgeHit } from "./knowledge.ts";
import { defineTool, type Tool } from "./tool.ts";

/** Passages in one answer (spec: Limits). */
const USUAL = 8;
const MOST = 25;

const input = z.object({
  query: z.string().trim().min(1).describe("What to look for, in the words that the documents would use."),
  collections: z.array(z.string()).optional().describe("Names of collections to stay within."),
  document_ids: z.array(z.string()).optional().describe("Ids of documents to stay within."),
  tags: z.array(z.string()).optional().describe("Only documents with one of these tags."),
  limit: z
    .number()
    .transform((wanted) => Math.min(Math.max(1, Math.trunc(wanted)), MOST))
    .optional()
    .describe(`Number of passages, ${USUAL} unless told, ${MOST} at most.`),
});

const shown = ({ document_id, name, collection, seq, page, section, reference, url, content }: KnowledgeHit) => ({
  document_id,
  document: name,
  collection,
  seq,
  ...(page !== null && { page }),
  ...(section !== null && { section }),
  reference,
  url,
  content,
});

/** Passages of the organization's documents, best first, as JSON `{results: [...]}`. */
export const searchDocuments = (knowledge: Knowledge): Tool =>
  defineTool({
    name: "search_documents",
    description:
      "Searches the organization's documents and returns the passages that fit best, each with the document, its place there and its text. " +
      "Cite document and reference. read_document with document_id and from_seq gives what stands around a passage.",
    input,
    async run({ query, collections, document_ids, tags, limit }, calling) {
      const hits = await knowledge.search(calling.organization_id, {
        query,
        collections: calling.collections,
        named: collections ?? [],
        document_ids: document_ids ?? [],
        tags: tags ?? [],
        limit: limit ?? USUAL,
      });
      return {
        text: JSON.stringify({ results: hits.map(shown) }),
        sources: hits.map(({ url, name, reference }) => ({ url, title: `${name}, ${reference}` })),
      };
    },
  });
