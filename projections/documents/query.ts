import type { Metadata, DocumentReader } from "#events/documentDetails.ts";
import { isUuid } from "#events/ids.ts";
import type { ReadingWarning } from "#events/readingWarnings.ts";
import { countRows } from "../countRows.ts";
import { queryPage } from "../page.ts";
import { decodeOrNull, decode, type Db } from "../projection.ts";
import { listConditions, type ListConditions } from "./listConditions.ts";
import { mayRead, type ReaderIdentity } from "./readers.ts";

export const DOCUMENT_STATUSES = ["pending", "processing", "ready", "failed"] as const;
export type DocumentStatus = (typeof DOCUMENT_STATUSES)[number];

export interface DocumentRow {
  id: string;
  organization_id: string;
  collection_id: string;
  /** Display name of its collection. */
  collection: string;
  name: string;
  mime_type: string;
  size_bytes: number;
  status: DocumentStatus;
  /** Why it could not be read or indexed; null if it was. */
  error: string | null;
  tags: string[];
  metadata: Metadata;
  /** Null: everybody who may read its collection. */
  readers: DocumentReader[] | null;
  source: "api" | "upload" | "connector";
  original: "file" | "text";
  /** Key of the blob with the original. All blobs of the document are sealed with the data key below. */
  blob: string;
  external_id: string | null;
  /** The generation that search shows, and the result of its reading. Before the first one: null, and zero passages. */
  live_generation: number | null;
  text_blob: string | null;
  passages_blob: string | null;
  page_count: number | null;
  chunk_count: number;
  /** What the reader left out. */
  warnings: ReadingWarning[];
  /** The data key of `document-<id>`, wrapped (base64). */
  wrapped_key: string;
  created_at: Date;
  updated_at: Date;
  indexed_at: Date | null;
}

// the inner joins hide a document as soon as its key, or the key of its collection, is destroyed
export const FROM_DOCUMENTS = `from read.documents d
  join log.keys k on k.thing = 'document-' || d.id
  join read.collections c on c.id = d.collection_id
  join log.keys ck on ck.thing = 'collection-' || c.id`;
/** The reading of a version, which is a generation that search showed. If it was cut again, the next generation replaced its passages. */
const READING_OF_VERSION = `left join lateral (
    select * from read.readings where document_id = d.id and generation between $3 and d.live_generation
    order by generation limit 1) r on true`;
export const LIVE_READING = "left join read.readings r on r.document_id = d.id and r.generation = d.live_generation";
export const SELECT_DOCUMENTS = `select d.id, d.organization_id, d.collection_id, c.name as collection, d.name, d.mime_type, d.size_bytes, d.status,
    d.error, d.tags, d.metadata, d.readers, d.source, d.original, d.blob, d.external_id, d.live_generation, r.text_blob, r.passages_blob, r.page_count,
    coalesce(r.chunk_count, 0) as chunk_count, r.warnings, k.wrapped as wrapped_key, d.created_at, d.updated_at, d.indexed_at
  ${FROM_DOCUMENTS}`;

const decodeWarnings = (stored: string | null): ReadingWarning[] => decodeOrNull(stored) ?? [];

/** Columns of JSON text. */
interface JsonRow {
  tags: string;
  metadata: string | null;
  readers: string | null;
  warnings: string | null;
}
export type StoredRow = Omit<DocumentRow, keyof JsonRow> & JsonRow;
const parseEncoded = ({ tags, metadata, readers, warnings }: JsonRow): Pick<DocumentRow, keyof JsonRow> => ({
  tags: decode(tags),
  metadata: decodeOrNull(metadata) ?? {},
  readers: decodeOrNull(readers),
  warnings: decodeWarnings(warnings),
});
export const parseRow = (row: StoredRow): DocumentRow => ({
  ...row,
  collection: decode(row.collection),
  name: decode(row.name),
  mime_type: decode(row.mime_type),
  error: decodeOrNull(row.error),
  ...parseEncoded(row),
  external_id: decodeOrNull(row.external_id),
});

/** A document with the text that search shows, or with that of a version. */
export async function getDocument(
  db: Db,
  organization: string,
  id: string,
  version?: number,
): Promise<DocumentRow | undefined> {
  if (!isUuid(id)) return undefined;
  const [reading, more] = version === undefined ? [LIVE_READING, []] : [READING_OF_VERSION, [version]];
  const [row] = await db.query<StoredRow>(`${SELECT_DOCUMENTS} ${reading} where d.organization_id = $1 and d.id = $2`, [
    organization,
    id,
    ...more,
  ]);
  return row && parseRow(row);
}

/** Those of some documents that are listed. */
export async function filterListedDocuments(db: Db, ids: string[]): Promise<string[]> {
  const rows = await db.query<{ id: string }>(`select d.id ${FROM_DOCUMENTS} where d.id = any ($1::uuid[])`, [ids]);
  return rows.map(({ id }) => id);
}

/** A reader's JSON is stored unchanged in the column: quotes within texts are escaped. */
const IS_READABLE =
  "(readers is null or exists (select from unnest($2::text[]) own (reader) where position(own.reader in readers) > 0))";

/** Conditions that all listed documents must meet. Null and empty ones match any document. */
export interface DocumentConditions extends ListConditions {
  status: DocumentStatus | null;
  readable_by: ReaderIdentity | null;
}

/** The documents of collections, newest first. */
export async function listDocuments(
  db: Db,
  collections: string[],
  { status, readable_by, limit, offset, ...more }: DocumentConditions & { limit: number; offset: number },
): Promise<{ rows: DocumentRow[]; total: number }> {
  // for a single collection, the index provides the order
  const [only, ...others] = collections;
  const values: unknown[] = [others.length === 0 ? (only ?? null) : collections];
  const conditions = [others.length === 0 ? "collection_id = $1" : "collection_id = any ($1)"];
  if (readable_by) {
    values.push(readable_by.map((own) => JSON.stringify(own)));
    conditions.push(IS_READABLE);
  }
  if (status !== null) conditions.push(`status = $${values.push(status)}`);
  for (const { sql, value } of listConditions(more)) conditions.push(sql(`$${values.push(value)}`));
  const wanted = `from read.documents where ${conditions.join(" and ")}`;
  // the page is cut before the join: skipping 90,000 rows took 900 ms joined, and takes 10 ms by the index alone
  const rows = await queryPage<StoredRow>(
    db,
    `with page as materialized (select id ${wanted} order by created_at desc, id desc limit ${Number(limit)} offset ${Number(offset)})
     ${SELECT_DOCUMENTS} ${LIVE_READING} where d.id in (select id from page) order by d.created_at desc, d.id desc`,
    values,
  );
  return { rows: rows.map(parseRow), total: await countRows(db, wanted, values) };
}

/** A document that search may show. */
export type LiveDocument = Pick<
  DocumentRow,
  | "id"
  | "name"
  | "collection_id"
  | "collection"
  | "mime_type"
  | "tags"
  | "metadata"
  | "readers"
  | "warnings"
  | "created_at"
  | "updated_at"
> & { live_generation: number };

/** The documents among `ids` that exist and are indexed, by id. */
export async function findLiveDocuments(
  db: Db,
  organization: string,
  ids: string[],
): Promise<Map<string, LiveDocument>> {
  const rows = await db.query<Omit<LiveDocument, keyof JsonRow> & JsonRow>(
    `select d.id, d.name, d.collection_id, c.name as collection, d.mime_type, d.tags, d.metadata, d.readers, d.live_generation,
       r.warnings, d.created_at, d.updated_at ${FROM_DOCUMENTS} ${LIVE_READING}
     where d.organization_id = $1 and d.id = any ($2) and d.live_generation is not null`,
    [organization, ids.filter(isUuid)],
  );
  return new Map(
    rows.map((row) => [
      row.id,
      {
        ...row,
        name: decode<string>(row.name),
        collection: decode<string>(row.collection),
        mime_type: decode<string>(row.mime_type),
        ...parseEncoded(row),
      },
    ]),
  );
}

/** Whether a file shows for ever what was read. Pushed texts have no file, and those of sources are replaced. */
export const hasLastingFile = ({ original, external_id }: Pick<DocumentRow, "original" | "external_id">): boolean =>
  original === "file" && external_id === null;

/** The ids of those documents whose file shows for ever what was read. */
export async function findLastingFiles(db: Db, organization: string, ids: string[]): Promise<Set<string>> {
  const rows = await db.query<Pick<DocumentRow, "id" | "original" | "external_id">>(
    "select id, original, external_id from read.documents where organization_id = $1 and id = any ($2)",
    [organization, ids.filter(isUuid)],
  );
  return new Set(rows.filter(hasLastingFile).map(({ id }) => id));
}

/** The order makes PostgreSQL use the index. Without it, the plan read the documents of all organizations: 32 ms per search at 100,000. */
const ANY_OF_COLLECTIONS = `
  select from unnest($2::uuid[]) wanted (id) cross join lateral (
    select ${FROM_DOCUMENTS} where d.organization_id = $1 and d.collection_id = wanted.id and d.live_generation is not null
    order by d.created_at, d.id limit 1) found
  limit 1`;
const ANY_OF_DOCUMENTS = `
  select ${FROM_DOCUMENTS} where d.organization_id = $1 and d.collection_id = any ($2) and d.id = any ($3) and d.live_generation is not null
  limit 1`;

/** Whether these collections have an indexed document; `document_ids` empty: any document counts. */
export async function hasLiveDocuments(
  db: Db,
  organization: string,
  { collection_ids, document_ids }: { collection_ids: string[]; document_ids: string[] },
): Promise<boolean> {
  const collections = collection_ids.filter(isUuid);
  const rows = await (document_ids.length === 0
    ? db.query(ANY_OF_COLLECTIONS, [organization, collections])
    : db.query(ANY_OF_DOCUMENTS, [organization, collections, document_ids.filter(isUuid)]));
  return rows.length > 0;
}

/** The ids of documents that are in one of the collections and that a reader may read. */
export async function filterDocuments(
  db: Db,
  organization: string,
  ids: string[],
  collection_ids: string[],
  reader: ReaderIdentity,
): Promise<Set<string>> {
  const rows = await db.query<{ id: string; readers: string | null }>(
    `select d.id, d.readers ${FROM_DOCUMENTS} where d.organization_id = $1 and d.id = any ($2) and d.collection_id = any ($3)`,
    [organization, ids.filter(isUuid), collection_ids],
  );
  const readable = rows.filter(({ readers }) => mayRead(decodeOrNull(readers), reader));
  return new Set(readable.map(({ id }) => id));
}
