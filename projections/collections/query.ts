import { isUuid } from "#events/ids.ts";
import { mapInSlices } from "#events/slices.ts";
import { readPage, type Page, type PageRows } from "../page.ts";
import { decode, encode, type Db } from "../projection.ts";
import { toNameKey } from "./nameKey.ts";

/** Counts of a collection's documents, as of the last refresh of the summary. */
export interface Summary {
  ready: number;
  /** Documents that wait to be read or are being read. */
  pending: number;
  failed: number;
  total: number;
  /** Total bytes of the ready documents. */
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

// the inner join hides a collection as soon as its key is destroyed
const FROM = "from read.collections c join log.keys k on k.thing = 'collection-' || c.id";
const SELECT = `select c.id, c.slug, c.name, c.description, coalesce(s.ready, 0) as ready, coalesce(s.pending, 0) as pending,
    coalesce(s.failed, 0) as failed, coalesce(s.total, 0) as total, coalesce(s.bytes, 0) as bytes, c.created_at, c.updated_at
  ${FROM} left join ops.collection_summaries s on s.collection_id = c.id`;

const parseRow = ({ ready, pending, failed, total, bytes, ...row }: CollectionRow & Summary): CollectionRow => ({
  ...row,
  name: decode(row.name),
  description: decode(row.description),
  documents: { ready, pending, failed, total, bytes },
});

/** An organization, and the id or the slug of one of its collections. */
export type CollectionReference = readonly [organization: string, reference: string];

/** The referenced collections in the same order; undefined for those that do not exist. */
export async function findCollections(
  db: Db,
  references: CollectionReference[],
): Promise<(CollectionRow | undefined)[]> {
  const rows = await db.query<CollectionRow & Summary & { nth: number }>(
    `select wanted.nth::integer, found.*
       from unnest($1::uuid[], $2::uuid[], $3::text[]) with ordinality wanted(organization_id, id, slug, nth)
       cross join lateral (
         ${SELECT} where c.organization_id = wanted.organization_id and c.id = wanted.id
         union all ${SELECT} where c.organization_id = wanted.organization_id and c.slug = wanted.slug limit 1
       ) found`,
    [
      references.map(([organization]) => organization),
      references.map(([, reference]) => (isUuid(reference) ? reference : null)),
      references.map(([, reference]) => (isUuid(reference) ? null : reference)),
    ],
  );
  const found = new Map(rows.map(({ nth, ...row }) => [nth, parseRow(row)]));
  return references.map((_, n) => found.get(n + 1));
}

/** An organization's collections, newest first. */
export const listCollections = (db: Db, organization: string, page: Page): Promise<PageRows<CollectionRow>> =>
  readPage(db, page, {
    ordered: `${SELECT} where c.organization_id = $1 order by c.created_at desc, c.id desc`,
    from: `${FROM} where c.organization_id = $1`,
    values: [organization],
    parseRow,
  });

/**
 * Maximum length of a name that is looked up. Collections have no longer names, and normalizing one can take seconds (see
 * http/base/filename.ts); one of this length takes up to 0.1 ms.
 */
const MAX_NAME_LENGTH = 1_000;

/** All collections of an organization, ordered by slug. */
export async function listAllCollections(db: Db, organization: string): Promise<NamedCollection[]> {
  const rows = await db.query<NamedCollection>(
    `select c.id, c.slug, c.name ${FROM} where c.organization_id = $1 order by c.slug`,
    [organization],
  );
  return rows.map((row) => ({ ...row, name: decode<string>(row.name) }));
}

export const hasCollections = async (db: Db, organization: string): Promise<boolean> =>
  (await db.query(`select ${FROM} where c.organization_id = $1 limit 1`, [organization])).length > 0;

/**
 * Finds collections by slug or display name, ignoring case. A slug takes precedence over another collection's display name.
 * `unknown`: names without a match.
 */
export async function resolveCollections(
  db: Db,
  organization: string,
  names: string[],
): Promise<{ found: NamedCollection[]; unknown: string[] }> {
  const toKey = (name: string) => [name, name.length > MAX_NAME_LENGTH ? "" : toNameKey(name.trim())] as const;
  const keys = new Map(await mapInSlices([...new Set(names)], toKey));
  const wanted = [...new Set(keys.values())];
  const rows = await db.query<NamedCollection & { name_key: string }>(
    `select c.id, c.slug, c.name, c.name_key ${FROM}
     where c.organization_id = $1 and (c.slug = any ($2) or c.name_key = any ($3))`,
    [organization, wanted.map((key) => key.replaceAll("\0", "")), wanted.map(encode)],
  );
  const bySlug = new Map(rows.map((row) => [row.slug, row]));
  const byName = new Map(rows.map((row) => [decode<string>(row.name_key), row]));
  const found = new Map<string, NamedCollection>();
  const unknown: string[] = [];
  for (const [name, key] of keys) {
    const row = bySlug.get(key) ?? byName.get(key);
    if (row) found.set(row.id, { id: row.id, slug: row.slug, name: decode(row.name) });
    else unknown.push(name);
  }
  return { found: [...found.values()], unknown };
}
