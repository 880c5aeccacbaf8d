import type pg from "pg";
import type { IndexedGeneration, IndexRegistry, IndexStatus } from "#services/knowledge/passageIndex.ts";

const STATUS = `
  select s.index_id, s.version, coalesce(c.position, 0) as position, exists (select from ops.index_builds) as build_requested, h.position as head,
    -- without the read model nobody searches
    coalesce(d.position, h.position) as projected
  from log.head h
  left join ops.search_index s on s.name = 'passages'
  left join log.checkpoints c on c.name = 'passages'
  left join log.checkpoints d on d.name = 'documents'`;

/** A new index is empty, so its checkpoint starts at 0 again. */
const START_SERVING = `
  with started as (
    insert into ops.search_index (index_id, version) values ($1, $2) on conflict do nothing returning name
  ), reset as (
    update log.checkpoints c set position = 0 from started where c.name = started.name
  )
  select count(*)::integer as started from started`;

const ADVANCE = `
  insert into log.checkpoints (name, version, position) values ('passages', 1, $1)
  on conflict (name) do update set position = excluded.position where log.checkpoints.position < excluded.position`;

const SAVE_PROGRESS = `
  insert into ops.index_builds (position, target) values ($1, $2)
  on conflict (name) do update set position = excluded.position, target = excluded.target`;

/** One statement, so that it is atomic. */
const REPLACE_SERVING = `
  with replaced as (
    update ops.search_index set index_id = $2, version = $3 where name = 'passages' and index_id = $1
      and not exists (select from log.checkpoints where name = 'passages' and position > $4)
    returning name
  ), checked as (
    update log.checkpoints c set build = build + 1, version = $3 from replaced where c.name = replaced.name
  ), done as (
    delete from ops.index_builds b using replaced where b.name = replaced.name
  )
  select count(*)::integer as replaced from replaced`;

/** The event that deletes a document removes its key, so deleted documents do not count even before the read model has caught up. */
const FROM_LIVE_DOCUMENTS = `
  from read.documents d
  join read.readings r on r.document_id = d.id and r.generation = d.live_generation
  join log.keys k on k.thing = 'document-' || d.id`;
const COUNT_SEARCHABLE = `select coalesce(sum(r.chunk_count), 0)::integer as passages ${FROM_LIVE_DOCUMENTS} where d.id <> all ($1)`;
const LIST_SEARCHABLE = `select r.document_id, r.generation, r.chunk_count as passages ${FROM_LIVE_DOCUMENTS}`;
const HAS_READ_MODEL = "select to_regclass('read.documents') is not null as there";

type StatusRow = Omit<IndexStatus, "serving"> & { index_id: string | null; version: number | null };

/** The registry of the passage index, in PostgreSQL. */
export const openIndexRegistry = (pool: pg.Pool): IndexRegistry => ({
  async status() {
    const { rows } = await pool.query<StatusRow>({ name: "index-status", text: STATUS });
    const { index_id, version, ...status } = rows[0]!;
    return { ...status, serving: index_id === null ? null : { index: index_id, version: version! } };
  },
  async countSearchable(except) {
    const { rows: model } = await pool.query<{ there: boolean }>(HAS_READ_MODEL);
    if (!model[0]!.there) return 0;
    const { rows } = await pool.query<{ passages: number }>({
      name: "index-searchable",
      text: COUNT_SEARCHABLE,
      values: [except],
    });
    return rows[0]!.passages;
  },
  async listSearchable() {
    const { rows: model } = await pool.query<{ there: boolean }>(HAS_READ_MODEL);
    return model[0]!.there ? (await pool.query<IndexedGeneration>(LIST_SEARCHABLE)).rows : undefined;
  },
  async startServing({ index, version }) {
    const { rows } = await pool.query<{ started: number }>(START_SERVING, [index, version]);
    return rows[0]!.started === 1;
  },
  async advance(position) {
    await pool.query({ name: "index-advance", text: ADVANCE, values: [position] });
  },
  async saveBuildProgress(position, target) {
    await pool.query(SAVE_PROGRESS, [position, target]);
  },
  async cancelBuild() {
    await pool.query("delete from ops.index_builds");
  },
  async replaceServing(from, to, position) {
    const { rows } = await pool.query<{ replaced: number }>(REPLACE_SERVING, [from, to.index, to.version, position]);
    return rows[0]!.replaced === 1;
  },
});
