import { readFileSync } from "node:fs";
import { newId } from "../../events/ids.ts";
import { startServices } from "../../infra/embedded/index.ts";
import { openPassageIndex } from "../../infra/meilisearch/passageIndex.ts";
import { openSearchEngine } from "../../infra/meilisearch/searchEngine.ts";
import { migrate } from "../../infra/postgres/migrate.ts";
import { asDb, openPool } from "../../infra/postgres/pool.ts";
import { collections } from "../../projections/collections/project.ts";
import { documents } from "../../projections/documents/project.ts";
import type { IndexedPassage } from "../../services/knowledge/passageIndex.ts";
import { dataFolder } from "../tools/folder.ts";
import { progress } from "../tools/progress.ts";

export interface Tenant {
  organization_id: string;
  collection_id: string;
}
type Piece = Pick<IndexedPassage, "text" | "lead" | "section">;

const AT_ONCE = 5_000;

export type Library = Awaited<ReturnType<typeof openLibrary>>;

/** The embedded servers with an empty passage index and the read models that a search asks. */
export const openLibrary = async () => {
  const folder = await dataFolder();
  const services = await startServices({ DATA_DIR: folder.path }, progress);
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
  await pool.query("insert into ops.search_index (index_id, version) values ($1, 1)", [id]);

  const tenant = async (): Promise<Tenant> => {
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

  /** Documents that are ready, of passages in order. */
  const add = async (of: Tenant, works: { name: string; pieces: Piece[] }[]): Promise<void> => {
    const named = works.map((work) => ({ ...work, document_id: newId() }));
    const row = (column: "document_id" | "name") => named.map((work) => work[column]);
    await pool.query(
      "insert into log.keys (thing, stream, wrapped) select 'document-' || id, id, 'k' from unnest($1::text[]) id",
      [row("document_id")],
    );
    await pool.query(
      `insert into read.documents (id, organization_id, collection_id, name, mime_type, size_bytes, status, tags, source, original,
         blob, live_generation, created_at, updated_at)
       select id, $3, $4, to_json(name)::text, '"text/plain"', 1, 'ready', '[]', 'api', 'file', 'b', 1, now(), now()
       from unnest($1::uuid[], $2::text[]) as work(id, name)`,
      [row("document_id"), row("name"), of.organization_id, of.collection_id],
    );
    const passages = named.flatMap(({ name, document_id, pieces }) =>
      pieces.map(
        (piece, seq): IndexedPassage => ({
          ...of,
          ...piece,
          document_id,
          generation: 1,
          seq,
          tags: [],
          name,
          page: null,
        }),
      ),
    );
    for (let from = 0; from < passages.length; from += AT_ONCE) {
      const outcomes = await index.settled(await index.put(id, passages.slice(from, from + AT_ONCE)));
      for (const outcome of outcomes.values()) if (!outcome.ok) throw new Error(outcome.error);
    }
  };

  const close = async (): Promise<void> => {
    await Promise.all([index.close(), engine.close(), pool.end()]);
    await services.stop();
    await folder.remove();
  };
  return { db: asDb(pool), engine, id, url, key, tenant, add, close };
};
