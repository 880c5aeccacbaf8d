import { EMBEDDER } from "./vectors.ts";

const equality = { facetSearch: false, filter: { equality: true, comparison: false } };

/**
 * Settings that an existing index takes over without being filled again. A search answers with keys alone: otherwise the server
 * parses the texts of all hits, a thousand and more for a question. Texts are fetched by key, which these do not change (ADR 94).
 */
export const servingSettings = { displayedAttributes: ["pk"] };

/**
 * Settings of an index of passages. The search removes stop words itself: here, changing them would need a re-index.
 * Proximity by attribute halves the indexing time, and our ranking needs nothing finer.
 */
export const settings = {
  ...servingSettings,
  searchableAttributes: ["title", "text", "lead"],
  filterableAttributes: [
    { attributePatterns: ["org", "coll", "doc", "tags", "marks"], features: equality },
    { attributePatterns: ["gen", "created"], features: { ...equality, filter: { equality: true, comparison: true } } },
  ],
  proximityPrecision: "byAttribute",
  facetSearch: false,
  // The ranking needs the number of matches of each word; the default stops counting at 1,000.
  pagination: { maxTotalHits: 1_000_000 },
};

/** Settings of an index of vectors. It has no words: they are in the index beside it. */
export const vectorSettings = (dimensions: number) => ({
  ...settings,
  searchableAttributes: [],
  embedders: { [EMBEDDER]: { source: "userProvided", dimensions } },
});
