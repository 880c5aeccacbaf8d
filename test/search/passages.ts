import { newId } from "#events/ids.ts";
import type { IndexedPassage } from "#services/knowledge/passageIndex.ts";
import { indexKey, searchKey } from "#infra/meilisearch/limitedKey.ts";
import { openPassageIndex } from "#infra/meilisearch/passageIndex.ts";
import { openSearchEngine } from "#infra/meilisearch/searchEngine.ts";
import { afterFile } from "../cleanUp.ts";
import { testSearch } from "../harness.ts";

/** Both sides of the search server, with an empty index that is dropped after the test file. */
export const anIndex = async () => {
  const { url, master_key: key, prefix } = testSearch();
  // with the keys that the platform uses
  const of = { masterKey: key, prefix };
  const index = openPassageIndex({ url, key: indexKey(of), prefix });
  const engine = openSearchEngine({ url, key: searchKey(of) });
  const id = `${prefix}-passages-00000001`;
  await index.create(id);
  afterFile(index.close);
  afterFile(engine.close);
  afterFile(async () => {
    for (const left of await index.list()) await index.drop(left);
  });
  const put = async (passages: IndexedPassage[], into = id): Promise<void> => {
    const outcomes = await index.waitFor(await index.put(into, passages));
    for (const outcome of outcomes.values()) if (!outcome.ok) throw new Error(outcome.error);
  };
  return { index, engine, id, prefix, url, key, put };
};

/** A passage of its own document, unless given otherwise. */
export const aPassage = (text: string, passage: Partial<IndexedPassage> = {}): IndexedPassage => ({
  organization_id: newId(),
  collection_id: newId(),
  document_id: newId(),
  generation: 1,
  seq: 0,
  start: 0,
  tags: [],
  metadata: {},
  readers: null,
  mime_type: "text/plain",
  created_at: new Date(),
  name: "A document",
  page: null,
  section: null,
  lead: "",
  text,
  ...passage,
});
