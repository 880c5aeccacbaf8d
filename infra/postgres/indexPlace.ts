import type pg from "pg";
import type { Held, IndexPlace, Place } from "#services/knowledge/passageIndex.ts";

const LOOK = `
  select s.index_id, s.version, coalesce(c.position, 0) as position, exists (select from ops.index_builds) as asked, h.position as head,
    -- nobody searches where there is no such model
    coalesce(d.position, h.position) as shown
  from log.head h
  left join ops.search_index s on s.name = 'passages'
  left join log.checkpoints c on c.name = 'passages'
  left join log.checkpoints d on d.name = 'documents'`;

/** An empty index has followed nothing, whatever an earlier one had. */
const BEGIN = `
  with begun as (
    insert into ops.search_index (index_id, version) values ($1, $2) on conflict do nothing returning name
  ), reset as (
    update log.checkpoints c set position = 0 from begun where c.name = begun.name
  )
  select count(*)::integer as begun from begun`;

const ADVANCE = `
  insert into log.checkpoints (name, version, position) values ('passages', 1, $1)
  on conflict (name) do update set position = excluded.position where log.checkpoints.position < excluded.position`;

const FILLED = `
  insert into ops.index_builds (position, target) values ($1, $2)
  on conflict (name) do update set position = excluded.position, target = excluded.target`;

/** One statement, so that it happens whole or not at all. */
const FLIP = `
  with flipped as (
    update ops.search_index set index_id = $2, version = $3 where name = 'passages' and index_id = $1
      and not exists (select from log.checkpoints where name = 'passages' and position > $4)
    returning name
  ), checked as (
    update log.checkpoints c set build = build + 1, version = $3 from flipped where c.name = flipped.name
  ), done as (
    delete from ops.index_builds b using flipped where b.name = flipped.name
  )
  select count(*)::integer as flipped from flipped`;

/** The key goes with the event that deletes a document, so nothing counts that was taken out ahead of the read model. */
const LIVE = `
  from read.documents d
  join read.readings r on r.document_id = d.id and r.generation = d.live_generation
  join log.keys k on k.thing = 'document-' || d.id`;
const SHOWN = `select coalesce(sum(r.chunk_count), 0)::integer as passages ${LIVE} where d.id <> all ($1)`;
const SHOWN_GENERATIONS = `select r.document_id, r.generation, r.chunk_count as passages ${LIVE}`;
const MODEL = "select to_regclass('read.documents') is not null as there";

type PlaceRow = Omit<Place, "serving"> & { index_id: string | null; version: number | null };

/** The place of the passage index, in PostgreSQL. */
export const openIndexPlace = (pool: pg.Pool): IndexPlace => ({
  async look() {
    const { rows } = await pool.query<PlaceRow>({ name: "index-place", text: LOOK });
    const { index_id, version, ...place } = rows[0]!;
    return { ...place, serving: index_id === null ? null : { index: index_id, version: version! } };
  },
  async shown(except) {
    const { rows: model } = await pool.query<{ there: boolean }>(MODEL);
    if (!model[0]!.there) return 0;
    const { rows } = await pool.query<{ passages: number }>({ name: "index-shown", text: SHOWN, values: [except] });
    return rows[0]!.passages;
  },
  async shownGenerations() {
    const { rows: model } = await pool.query<{ there: boolean }>(MODEL);
    return model[0]!.there ? (await pool.query<Held>(SHOWN_GENERATIONS)).rows : undefined;
  },
  async begin({ index, version }) {
    const { rows } = await pool.query<{ begun: number }>(BEGIN, [index, version]);
    return rows[0]!.begun === 1;
  },
  async advance(position) {
    await pool.query({ name: "index-advance", text: ADVANCE, values: [position] });
  },
  async filled(position, target) {
    await pool.query(FILLED, [position, target]);
  },
  async decline() {
    await pool.query("delete from ops.index_builds");
  },
  async flip(from, to, position) {
    const { rows } = await pool.query<{ flipped: number }>(FLIP, [from, to.index, to.version, position]);
    return rows[0]!.flipped === 1;
  },
});
