import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { ModelUnavailable, type SearchModels } from "#projections/passages/models.ts";
import { searchPassages } from "#projections/passages/search.ts";
import { judgedCorpus } from "../../dev/bench/search/corpus.ts";
import { ndcg } from "../../dev/bench/search/ndcg.ts";
import { textVector } from "../doubles/textVectors.ts";
import { aLibrary } from "./library.ts";

/* Words alone, and words fused with vectors that are worse than words, on the judged sets. */

const DIMENSIONS = 256;
const unit = (text: string): Float32Array => {
  const numbers = textVector(text, DIMENSIONS);
  const length = Math.hypot(...numbers);
  return Float32Array.from(numbers, (value) => value / length);
};
const models: SearchModels = {
  describe: async () => ({}),
  find: async () => ({ embed: async (query) => ({ space: "judged", values: unit(query) }) }),
};
const failing: SearchModels = {
  describe: async () => ({}),
  find: async () => ({ embed: () => Promise.reject(new ModelUnavailable("away")) }),
};

const its = await aLibrary();
const shelf = await its.shelf();
const { works, sets } = judgedCorpus();
const documents = works.map((work) => ({ ...work, id: newId() }));
await its.put(
  documents.flatMap(({ id, name, pieces }) =>
    its.indexed(
      shelf,
      pieces.map((piece) => ({
        ...piece,
        vector: { space: "judged", values: unit([piece.section, piece.lead, piece.text].join("\n")) },
      })),
      { id, name },
    ),
  ),
);
for (const { id, name } of documents) await its.flip(shelf, { id, name });

const rankings = async (query: string, endpoints?: SearchModels): Promise<string[]> => {
  const asked = { query, collections: [shelf], document_ids: [], tags: [], reader: [], limit: 10, offset: 0 };
  const deps = { db: its.db, engine: its.engine, ...(endpoints && { models: endpoints }) };
  const { results } = await searchPassages(deps, shelf.organization_id, asked);
  const passages = results.flatMap((result) => result.passages);
  return passages.toSorted((a, b) => b.score - a.score).map(({ content }) => content);
};

test.each(sets)("vectors that rank worse than words do not make results worse: $name", async ({ questions }) => {
  let [words, fused] = [0, 0];
  for (const judged of questions) {
    words += ndcg(await rankings(judged[0]), judged);
    fused += ndcg(await rankings(judged[0], models), judged);
  }
  console.info(`nDCG@10: words ${words / questions.length}, fused ${fused / questions.length}`);
  expect(words).toBeGreaterThan(0);
  expect(fused).toBeGreaterThanOrEqual(words - 1e-9);
});

test("a failing endpoint leaves the results of the word search", async () => {
  const [[query]] = sets[0]!.questions as [[string]];
  expect(await rankings(query, failing)).toEqual(await rankings(query));
});
