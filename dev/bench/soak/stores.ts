import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type pg from "pg";

/** Bytes of each store. */
export interface StoreSizes {
  log: number;
  readModels: number;
  nats: number;
  meilisearch: number;
  blobs: number;
}

/** A file that is removed meanwhile counts 0. */
function folderBytes(folder: string): number {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .reduce((sum, { parentPath, name }) => sum + (bytesOf(join(parentPath, name)) ?? 0), 0);
  } catch {
    return 0;
  }
}

function bytesOf(path: string): number | undefined {
  const { blocks } = lstatSync(path, { throwIfNoEntry: false }) ?? {};
  return blocks === undefined ? undefined : blocks * 512;
}

const SIZES = `
  select coalesce(sum(pg_total_relation_size(c.oid)) filter (where n.nspname in ('log', 'ops')), 0)::float8 as log,
         coalesce(sum(pg_total_relation_size(c.oid)) filter (where n.nspname = 'read'), 0)::float8 as read
  from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind = 'r'`;

/** `servers` is the folder of the embedded servers, `blobs` that of the blobs. */
export async function measureStores(
  pool: Pick<pg.Pool, "query">,
  { servers, blobs }: { servers: string; blobs: string },
): Promise<StoreSizes> {
  const { rows } = await pool.query<{ log: number; read: number }>(SIZES);
  return {
    log: rows[0]!.log,
    readModels: rows[0]!.read,
    nats: folderBytes(join(servers, "nats")),
    meilisearch: folderBytes(join(servers, "meili")),
    blobs: folderBytes(blobs),
  };
}

/** Share of dead rows that vacuum has not removed yet, in tables where it would start. */
export async function deadRows(pool: Pick<pg.Pool, "query">): Promise<number> {
  const { rows } = await pool.query<{ dead: number; live: number }>(
    `select coalesce(sum(n_dead_tup), 0)::float8 as dead, coalesce(sum(n_live_tup), 0)::float8 as live
     from pg_stat_user_tables where n_dead_tup + n_live_tup > 1000`,
  );
  const { dead, live } = rows[0]!;
  return dead / Math.max(1, dead + live);
}
