import { z } from "zod";
import type { Knowledge, KnowledgeHit } from "./knowledge.ts";
import { defineTool, resultLimitArgument, type Tool } from "./tool.ts";

/** Passages in one answer (spec: Limits). */
const LIMITS = { usual: 8, most: 25 };

const input = z.object({
  query: z.string().trim().min(1).describe("What to look for, in the words that the documents use."),
  collections: z.array(z.string()).optional().describe("Names of collections to stay within."),
  document_ids: z.array(z.string()).optional().describe("Ids of documents to stay within."),
  tags: z.array(z.string()).optional().describe("Only documents with one of these tags."),
  limit: resultLimitArgument("passages", LIMITS),
});

const presentPlace = ({ document_id, version, seq, page, start, end }: KnowledgeHit) => ({
  document_id,
  version,
  seq,
  ...(page !== null && { page }),
  ...(start !== undefined && { start, end }),
});

const presentHit = (hit: KnowledgeHit) => ({
  document: hit.name,
  collection: hit.collection,
  ...presentPlace(hit),
  ...(hit.section !== null && { section: hit.section }),
  reference: hit.reference,
  url: hit.url,
  // without a value, these are not part of the JSON
  warnings: hit.warnings,
  table_header: hit.table_header,
  content: hit.content,
});

/** Passages of the organization's documents, best first, as JSON `{results: [...]}`. */
export const searchDocuments = (knowledge: Knowledge): Tool<"search_documents"> =>
  defineTool({
    name: "search_documents",
    description:
      "Searches the organization's documents and returns the best matching passages, each with its document, its place in it and its text. " +
      "Cite document and reference. read_document with document_id and from_seq returns the text around a passage.",
    input,
    async run({ query, collections, document_ids, tags, limit }, context) {
      const hits = await knowledge.search(context.organization_id, {
        reader: context,
        query,
        collections: context.collections,
        named: collections ?? [],
        document_ids: document_ids ?? [],
        tags: tags ?? [],
        limit: limit ?? LIMITS.usual,
      });
      return {
        text: JSON.stringify({ results: hits.map(presentHit) }),
        sources: hits.map((hit) => ({ url: hit.url, title: `${hit.name}, ${hit.reference}`, ...presentPlace(hit) })),
      };
    },
  });
