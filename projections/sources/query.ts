import type { ScheduleRule } from "#events/schedule.ts";
import type { PageResult } from "#events/source.ts";
import { readPage, type Page, type PageRows } from "../page.ts";
import { decode, decodeOrNull, findById, type Db } from "../projection.ts";

/** Numbers of the last read's pages by result. */
export type PageCounts = Record<PageResult, number>;

export interface SourceRow {
  id: string;
  collection_id: string;
  kind: "url" | "sitemap";
  url: string;
  include: string[];
  exclude: string[];
  max_pages: number;
  when_gone: "delete" | "keep";
  rule: ScheduleRule | null;
  next_at: Date | null;
  paused: boolean;
  read: number;
  reading: boolean;
  listed: number | null;
  started_at: Date;
  ended_at: Date | null;
  error: string | null;
  /** Numbers of pages that the last read has visited so far, by result. */
  pages: PageCounts;
  created_at: Date;
  updated_at: Date;
}
type StoredRow = Omit<SourceRow, "include" | "exclude" | "rule" | "pages"> & {
  include: string;
  exclude: string;
  rule: string | null;
  pages: Partial<PageCounts> | null;
};

// the inner joins hide a source as soon as its key or that of its collection is destroyed
const FROM = `from read.sources s join log.keys k on k.thing = 'source-' || s.id
  join log.keys c on c.thing = 'collection-' || s.collection_id`;
const SELECT = `select s.id, s.collection_id, s.kind, s.url, s.include, s.exclude, s.max_pages, s.when_gone, s.rule,
    s.next_at, s.paused, s.read, s.reading, s.listed, s.started_at, s.ended_at, s.error, s.created_at, s.updated_at,
    (select json_object_agg(result, number) from (
      select p.result, count(*)::integer as number from read.source_pages p
      where p.source_id = s.id and p.read = s.read group by p.result) counted) as pages
  ${FROM}`;

const NO_PAGES: PageCounts = { new: 0, changed: 0, same: 0, failed: 0, gone: 0, removed: 0 };

const parseRow = (row: StoredRow): SourceRow => ({
  ...row,
  url: decode(row.url),
  include: decode(row.include),
  exclude: decode(row.exclude),
  rule: decodeOrNull(row.rule),
  error: decodeOrNull(row.error),
  pages: { ...NO_PAGES, ...row.pages },
});

export const getSource = findById(`${SELECT} where s.organization_id = $1 and s.id = $2`, parseRow);

/** The sources of a collection, newest first. */
export const listSources = (
  db: Db,
  organization: string,
  collection: string,
  page: Page,
): Promise<PageRows<SourceRow>> => {
  const where = "where s.organization_id = $1 and s.collection_id = $2";
  return readPage<StoredRow, SourceRow>(db, page, {
    ordered: `${SELECT} ${where} order by s.created_at desc, s.id desc`,
    from: `${FROM} ${where}`,
    values: [organization, collection],
    parseRow,
  });
};

/** Sources of a collection that is deleted. */
export async function listSourceIds(db: Db, collection: string): Promise<string[]> {
  const rows = await db.query<{ id: string }>("select id from read.sources where collection_id = $1 limit 200", [
    collection,
  ]);
  return rows.map(({ id }) => id);
}
