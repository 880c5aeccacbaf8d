const equality = { facetSearch: false, filter: { equality: true, comparison: false } };

/**
 * How an index of passages searches. Stop words are left to the asking side: here they would cost a re-index and find no
 * more. Proximity by attribute halves the time of indexing; the ranking of ours does not ask for more.
 */
export const settings = {
  searchableAttributes: ["title", "text", "lead"],
  filterableAttributes: [
    { attributePatterns: ["org", "coll", "doc", "tags"], features: equality },
    { attributePatterns: ["gen"], features: { ...equality, filter: { equality: true, comparison: true } } },
  ],
  proximityPrecision: "byAttribute",
  facetSearch: false,
  // The number of matches is how rare a word is; it would end at 1,000.
  pagination: { maxTotalHits: 1_000_000 },
};
