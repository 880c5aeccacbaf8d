import { readFileSync } from "node:fs";
import { newId } from "#events/ids.ts";
import type { IndexedPassage } from "#services/knowledge/passageIndex.ts";
import { INDEX_VERSION } from "#services/knowledge/indexing/buildIndex.ts";
import { asDb, openPool } from "#infra/postgres/pool.ts";
import { collections } from "#projections/collections/project.ts";
import { documents } from "#projections/documents/project.ts";
import { searchPassages, type PassageSearch } from "#projections/passages/search.ts";
import { afterFile } from "../cleanUp.ts";
import { testDatabase } from "../harness.ts";
import { anIndex, aPassage } from "./passages.ts";

interface Shelf {
  organization_id: string;
  id: string;
}
interface Put {
  id?: string;
  name?: string;
  tags?: string[];
  generation?: number;
}
type Text = string | Partial<IndexedPassage>;

/** Documents in the read models and in a serving index, put there as they would be when they are ready. */
export const aLibrary = async () => {
  const { url } = await testDatabase();
  const pool = openPool(url, { max: 4, name: "test" });
  afterFile(() => pool.end());
  const db = asDb(pool);
  const its = await anIndex();
  const tables = [collections, documents].map(({ tables }) => readFileSync(tables, "utf8"));
  await pool.query(
    `begin; create schema if not exists read; set local search_path to read; ${tables.join(";")}; commit`,
  );
  const serve = (index: string, version = INDEX_VERSION) =>
    db.query(
      `insert into ops.search_index (index_id, version) values ($1, $2) on conflict (name) do update set index_id = $1, version = $2`,
      [index, version],
    );
  await serve(its.id);
  const key = (thing: string) =>
    db.query("insert into log.keys (thing, stream, wrapped) values ($1, $1, 'k') on conflict do nothing", [thing]);

  const shelf = async (organization_id = newId(), name = "Shelf"): Promise<Shelf> => {
    const id = newId();
    await key(`collection-${id}`);
    await db.query(
      `insert into read.collections (id, organization_id, slug, name, name_key, description, created_at, updated_at)
       values ($1, $2, $3, $4, $4, '""', now(), now())`,
      [id, organization_id, `slug-${id}`, JSON.stringify(name)],
    );
    return { organization_id, id };
  };

  const indexed = (on: Shelf, texts: Text[], { id = newId(), name = "Document", tags = [], generation = 1 }: Put) =>
    texts.map((text, seq) =>
      aPassage(typeof text === "string" ? text : "", {
        organization_id: on.organization_id,
        collection_id: on.id,
        document_id: id,
        generation,
        seq,
        name,
        tags,
        ...(typeof text === "string" ? {} : text),
      }),
    );

  /** Makes a generation of a document the one that search sees. */
  const flip = async (on: Shelf, { id, name = "Document", tags = [], generation = 1 }: Put & { id: string }) => {
    await key(`document-${id}`);
    await db.query(
      `insert into read.documents (id, organization_id, collection_id, name, mime_type, size_bytes, status, tags, source, original,
         blob, live_generation, created_at, updated_at)
       values ($1, $2, $3, $4, '"text/plain"', 1, 'ready', $5, 'api', 'file', 'b', $6, now(), now())
       on conflict (id) do update set name = $4, tags = $5, live_generation = $6`,
      [id, on.organization_id, on.id, JSON.stringify(name), JSON.stringify(tags), generation],
    );
  };

  const add = async (on: Shelf, texts: Text[], put: Put = {}): Promise<string> => {
    const id = put.id ?? newId();
    await its.put(indexed(on, texts, { ...put, id }));
    await flip(on, { ...put, id });
    return id;
  };

  const ask = (on: Shelf, query: string, search: Partial<PassageSearch> = {}, engine = its.engine) =>
    searchPassages({ db, engine }, on.organization_id, {
      query,
      collections: [on],
      document_ids: [],
      tags: [],
      reader: [],
      limit: 8,
      offset: 0,
      ...search,
    });
  /** What a page of a search shows, in rank order within documents. */
  const contents = async (...asked: Parameters<typeof ask>): Promise<string[]> =>
    (await ask(...asked)).results.flatMap(({ passages }) => passages.map(({ content }) => content));

  return { ...its, db, serve, shelf, indexed, flip, add, ask, contents };
};
