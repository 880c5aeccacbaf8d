import { readFileSync } from "node:fs";
import { newId } from "../../../events/ids.ts";
import { startEmbeddedServers } from "../../../infra/embedded/index.ts";
import { openPassageIndex } from "../../../infra/meilisearch/passageIndex.ts";
import { openSearchEngine } from "../../../infra/meilisearch/searchEngine.ts";
import { migrate } from "../../../infra/postgres/migrate.ts";
import { asDb, openPool } from "../../../infra/postgres/pool.ts";
import { collections } from "../../../projections/collections/project.ts";
import { documents } from "../../../projections/documents/project.ts";
import { primaryKey } from "../../../infra/meilisearch/document.ts";
import type { IndexedPassage } from "../../../services/knowledge/passageIndex.ts";
import { dataFolder } from "../tools/dataFolder.ts";
import { progress } from "../tools/progress.ts";
import type { Work } from "./corpus.ts";

export interface Tenant {
  organization_id: string;
  collection_id: string;
}

const BATCH_SIZE = 5_000;

export type Library = Awaited<ReturnType<typeof openLibrary>>;

/** The embedded servers with an empty passage index and the read models that search queries. */
export const openLibrary = async () => {
  const folder = await dataFolder();
  const services = await startEmbeddedServers({ DATA_DIR: folder.path }, progress);
  const { database_url, meili_url: url, meili_master_key: key } = services;
  await migrate(database_url);
  const pool = openPool(database_url, { max: 4, name: "bench" });
  const tables = [collections, documents].map((projection) => readFileSync(projection.tables, "utf8"));
  await pool.query(
    `begin; create schema if not exists read; set local search_path to read; ${tables.join(";")}; commit`,
  );
  const [index, engine] = [openPassageIndex({ url, key, prefix: "bench" }), openSearchEngine({ url, key })];
  const id = "bench-passages-00000001";
  await index.create(id);
  await pool.query("insert into ops.search_index (index_id, version) values ($1, 2)", [id]);
  return {
    db: asDb(pool),
    engine,
    id,
    url,
    key,
    createTenant: () => createTenant(pool),
    /** Adds documents with their passages, in order. Returns the texts by their keys in the index. */
    async add(tenant: Tenant, works: Work[]): Promise<Map<string, string>> {
      const added = works.map((work) => ({ ...work, document_id: newId() }));
      await insertDocuments(pool, tenant, added);
      const passages = added.flatMap((document) => toPassages(tenant, document));
      for (let from = 0; from < passages.length; from += BATCH_SIZE) {
        const outcomes = await index.waitFor(await index.put(id, passages.slice(from, from + BATCH_SIZE)));
        for (const outcome of outcomes.values()) if (!outcome.ok) throw new Error(outcome.error);
      }
      return new Map(passages.map((passage) => [primaryKey(passage), passage.text]));
    },
    async close(): Promise<void> {
      await Promise.all([index.close(), engine.close(), pool.end()]);
      await services.stop();
      await folder.remove();
    },
  };
};

type Pool = ReturnType<typeof openPool>;
type AddedDocument = Work & { document_id: string };

/** An organization with one collection. */
const createTenant = async (pool: Pool): Promise<Tenant> => {
  const [organization_id, collection_id] = [newId(), newId()];
  await pool.query("insert into log.keys (thing, stream, wrapped) values ($1, $1, 'k')", [
    `collection-${collection_id}`,
  ]);
  await pool.query(
    `insert into read.collections (id, organization_id, slug, name, name_key, description, created_at, updated_at)
     values ($1, $2, 'bench', '"Bench"', '"bench"', '""', now(), now())`,
    [collection_id, organization_id],
  );
  return { organization_id, collection_id };
};

const insertDocuments = async (pool: Pool, tenant: Tenant, added: AddedDocument[]): Promise<void> => {
  const ids = added.map(({ document_id }) => document_id);
  const names = added.map(({ name }) => name);
  await pool.query(
    "insert into log.keys (thing, stream, wrapped) select 'document-' || id, id, 'k' from unnest($1::text[]) id",
    [ids],
  );
  await pool.query(
    `insert into read.documents (id, organization_id, collection_id, name, mime_type, size_bytes, status, tags, source, original,
       blob, live_generation, created_at, updated_at)
     select id, $3, $4, to_json(name)::text, '"text/plain"', 1, 'ready', '[]', 'api', 'file', 'b', 1, now(), now()
     from unnest($1::uuid[], $2::text[]) as work(id, name)`,
    [ids, names, tenant.organization_id, tenant.collection_id],
  );
};

const toPassages = (tenant: Tenant, { name, document_id, pieces }: AddedDocument): IndexedPassage[] =>
  pieces.map((piece, seq) => ({
    ...tenant,
    ...piece,
    document_id,
    generation: 1,
    seq,
    tags: [],
    metadata: {},
    readers: null,
    mime_type: "text/plain",
    created_at: new Date(),
    name,
    page: null,
    start: 0,
  }));
