import { readPage, type Page, type PageRows } from "../page.ts";
import { decode, decodeOrNull, findById, type Db } from "../projection.ts";

export interface KeyRow {
  id: string;
  name: string;
  /** The last four characters. */
  key_hint: string;
  project_id: string | null;
  products: string[];
  enabled: boolean;
  expires_at: Date | null;
  /** Null: every model. */
  allowed_models: string[] | null;
  /** Whether completions may pass tools of the caller's own. */
  client_tools: boolean;
  /** From `ops.last_used`, by key id. */
  last_used_at: Date | null;
  created_at: Date;
  updated_at: Date;
}
/** A key as authentication needs it. `parked`: later changes of the key could not be projected, so it must not be trusted. */
export type KeyInUse = KeyRow & { organization_id: string; parked: boolean };

const COLUMNS = `k.id, k.name, k.key_hint, k.project_id, k.products, k.enabled, k.expires_at, k.allowed_models,
  k.client_tools, l.at as last_used_at, k.created_at, k.updated_at`;
const FROM = "from read.keys k left join ops.last_used l on l.id = k.id::text";

type StoredRow = Omit<KeyRow, "products" | "allowed_models"> & { products: string; allowed_models: string | null };
const parseRow = <R extends StoredRow>(row: R) => ({
  ...row,
  name: decode<string>(row.name),
  products: decode<string[]>(row.products),
  allowed_models: decodeOrNull<string[]>(row.allowed_models),
});

/** Keys by SHA-256 (hex). Never cache them: a disabled key must stop working at once. */
export async function findKeysByHash(db: Db, hashes: string[]): Promise<Map<string, KeyInUse>> {
  const rows = await db.query<StoredRow & { key_hash: string; organization_id: string; parked: boolean }>(
    `select ${COLUMNS}, k.key_hash, k.organization_id,
            exists (select from log.parked p where p.projection = 'keys' and p.stream = 'key-' || k.id) as parked
     ${FROM} where k.key_hash = any ($1)`,
    [hashes],
  );
  return new Map(rows.map(({ key_hash, ...row }) => [key_hash, parseRow(row)]));
}

export async function findKeyByHash(db: Db, hash: string): Promise<KeyInUse | undefined> {
  return (await findKeysByHash(db, [hash])).get(hash);
}

/** An organization's keys, newest first. */
export const listKeys = (db: Db, organization: string, page: Page): Promise<PageRows<KeyRow>> =>
  readPage(db, page, {
    ordered: `select ${COLUMNS} ${FROM} where k.organization_id = $1 order by k.created_at desc, k.id desc`,
    from: "from read.keys where organization_id = $1",
    values: [organization],
    parseRow: parseRow<StoredRow>,
  });

export const getKey = findById(
  `select ${COLUMNS} ${FROM} where k.organization_id = $1 and k.id = $2`,
  parseRow<StoredRow>,
);
