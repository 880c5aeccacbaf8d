import { isUuid } from "#events/ids.ts";
import { decoded, encode, type Db } from "../projection.ts";
import { nameKeyOf } from "./nameKey.ts";

/** What a collection holds, as the summary had it when it was last refreshed. */
export interface Summary {
  ready: number;
  /** Waiting or being read. */
  pending: number;
  failed: number;
  total: number;
  /** Size of what is ready. */
  bytes: number;
}
export interface CollectionRow {
  id: string;
  slug: string;
  name: string;
  description: string;
  documents: Summary;
  created_at: Date;
  updated_at: Date;
}
export type NamedCollection = Pick<CollectionRow, "id" | "slug" | "name">;

// the inner join hides a collection from the moment its key is gone
const FROM = "from read.collections c join log.keys k on k.thing = 'collection-' || c.id";
const SELECT = `select c.id, c.slug, c.name, c.description, coalesce(s.ready, 0) as ready, coalesce(s.pending, 0) as pending,
    coalesce(s.failed, 0) as failed, coalesce(s.total, 0) as total, coalesce(s.bytes, 0) as bytes, c.created_at, c.updated_at
  ${FROM} left join ops.collection_summaries s on s.collection_id = c.id`;

const present = ({ ready, pending, failed, total, bytes, ...row }: CollectionRow & Summary): CollectionRow => ({
  ...row,
  name: decoded(row.name),
  description: decoded(row.description),
  documents: { ready, pending, failed, total, bytes },
});

/** A collection by its id or its slug. */
export async function getCollection(
  db: Db,
  organization: string,
  reference: string,
): Promise<CollectionRow | undefined> {
  const column = isUuid(reference) ? "id" : "slug";
  const [row] = await db.query<CollectionRow & Summary>(
    `${SELECT} where c.organization_id = $1 and c.${column} = $2 limit 1`,
    [organization, reference],
  );
  return row && present(row);
}

/** An organization's collections, newest first. */
export async function listCollections(
  db: Db,
  organization: string,
  page: { limit: number; offset: number },
): Promise<{ rows: CollectionRow[]; total: number }> {
  const rows = await db.query<CollectionRow & Summary>(
    `${SELECT} where c.organization_id = $1 order by c.created_at desc, c.id desc limit $2 offset $3`,
    [organization, page.limit, page.offset],
  );
  const [count] = await db.query<{ total: number }>(
    `select count(*)::integer as total ${FROM} where c.organization_id = $1`,
    [organization],
  );
  return { rows: rows.map(present), total: count!.total };
}

/** Longer words name no collection; composing them would take seconds (see http/filename.ts). */
const LONGEST = 1_000;

/** Collections of an organization: all of them, by slug. */
export async function allCollections(db: Db, organization: string): Promise<NamedCollection[]> {
  const rows = await db.query<NamedCollection>(
    `select c.id, c.slug, c.name ${FROM} where c.organization_id = $1 order by c.slug`,
    [organization],
  );
  return rows.map((row) => ({ ...row, name: decoded<string>(row.name) }));
}

/**
 * The collections with these slugs or display names, whatever their case; a slug wins over another's display name.
 * `unknown` are the names that fit none.
 */
export async function resolveCollections(
  db: Db,
  organization: string,
  names: string[],
): Promise<{ found: NamedCollection[]; unknown: string[] }> {
  const keys = new Map(names.map((name) => [name, name.length > LONGEST ? "" : nameKeyOf(name.trim())]));
  const wanted = [...new Set(keys.values())];
  const rows = await db.query<NamedCollection & { name_key: string }>(
    `select c.id, c.slug, c.name, c.name_key ${FROM}
     where c.organization_id = $1 and (c.slug = any ($2) or c.name_key = any ($3))`,
    [organization, wanted.map((key) => key.replaceAll("\0", "")), wanted.map(encode)],
  );
  const bySlug = new Map(rows.map((row) => [row.slug, row]));
  const byName = new Map(rows.map((row) => [decoded<string>(row.name_key), row]));
  const found = new Map<string, NamedCollection>();
  const unknown: string[] = [];
  for (const [name, key] of keys) {
    const row = bySlug.get(key) ?? byName.get(key);
    if (row) found.set(row.id, { id: row.id, slug: row.slug, name: decoded(row.name) });
    else unknown.push(name);
  }
  return { found: [...found.values()], unknown };
}
