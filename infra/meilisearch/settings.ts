import { EMBEDDER } from "./vectors.ts";

const equality = { facetSearch: false, filter: { equality: true, comparison: false } };

/**
 * Settings that an existing index takes over without being refilled. Searches return only keys; otherwise the server would parse
 * the texts of all hits, over a thousand per question. Texts are then fetched by key, to which this setting does not apply (ADR
 * 94).
 */
export const servingSettings = { displayedAttributes: ["pk"] };

/**
 * Settings of an index of passages. Stop words are removed by the search itself, because changing them here would need a re-index.
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
  // The ranking needs the number of matches of each word. By default the server stops counting at 1,000.
  pagination: { maxTotalHits: 1_000_000 },
};

/** Settings of an index of vectors, which has no words: these are in the index beside it. */
export const vectorSettings = (dimensions: number) => ({
  ...settings,
  searchableAttributes: [],
  embedders: { [EMBEDDER]: { source: "userProvided", dimensions } },
});
