import { existsSync } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PARTIAL_SUFFIX } from "#infra/blobs.ts";
import { readSettings } from "#infra/config.ts";
import { copyBlobs } from "#infra/copyBlobs.ts";
import { inspectTargetDatabase, loadDump, UnloadableRow } from "#infra/postgres/dump.ts";
import { DatabaseTooNew, migrate } from "#infra/postgres/migrate.ts";
import { BrokenChain, verifyLog } from "#infra/postgres/verify.ts";
import type { Db } from "#projections/projection.ts";
import { throwExplained, serviceAddress } from "../connect.ts";
import { explainError } from "../explainError.ts";
import { print } from "../output.ts";
import { CliError } from "../cliError.ts";
import { blobsFolder, readManifest, requireBlobs, tableFile, type Manifest } from "./format.ts";
import { readTable } from "./readTable.ts";

const ANOTHER = "restore another backup or another copy of it";

/** A mark in the folder of the blobs, from before the first copy until the log is restored. */
const UNFINISHED = `restore${PARTIAL_SUFFIX}`;

/** Throws CliError if the target is not empty, and DatabaseTooNew if the backup has migrations that this program lacks. */
async function checkPlace(databaseUrl: string, blobs: string, { migrations }: Manifest): Promise<void> {
  const { all, applied, position } = await inspectTargetDatabase(databaseUrl).catch((error: unknown) =>
    throwExplained(databaseUrl, error),
  );
  const newer = migrations.filter((name) => !all.includes(name));
  if (newer.length > 0) throw new DatabaseTooNew(newer);
  const next = "restore into an empty database and an empty DATA_DIR";
  if (position > 0) throw new CliError("The database has events already", next);
  const later = applied.filter((name) => !migrations.includes(name));
  if (later.length > 0) throw new CliError(`The database has ${later.join(", ")}, which the backup lacks`, next);
  const there = existsSync(blobs) ? await readdir(blobs) : [];
  if (there.length > 0 && !there.includes(UNFINISHED)) throw new CliError(`${blobs} is not empty`, next);
}

async function removeAll(folder: string): Promise<void> {
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true });
}

/** Copies the blobs, and removes them if the work after it fails. The mark shows that a restore was killed in between. */
async function withBlobs(from: string, blobs: string, work: () => Promise<void>): Promise<void> {
  await mkdir(blobs, { recursive: true, mode: 0o700 });
  await removeAll(blobs);
  const mark = join(blobs, UNFINISHED);
  await writeFile(mark, "", { flush: true });
  try {
    await copyBlobs(blobsFolder(from), blobs);
    await work();
  } catch (error) {
    await removeAll(blobs);
    throw error;
  }
  await rm(mark);
}

/** Throws CliError if the restored log is not the one that the backup names. */
async function checkTip(db: Db, { tip }: Manifest): Promise<void> {
  const { position, hash } = await verifyLog(db, () => {}).catch((error: unknown) => {
    if (!(error instanceof BrokenChain)) throw error;
    throw new CliError(`The log of the backup is damaged (${error.message})`, ANOTHER, { cause: error });
  });
  if (position !== tip.position || hash !== tip.hash)
    throw new CliError(
      `The restored log ends at ${position}:${hash}, the backup at ${tip.position}:${tip.hash}`,
      ANOTHER,
    );
}

function explainLoading(from: string, databaseUrl: string, error: unknown): never {
  if (!(error instanceof UnloadableRow)) return throwExplained(databaseUrl, error);
  const what = `${tableFile(from, error.table)} does not fit the table ${error.table} (${explainError(error)})`;
  throw new CliError(what, ANOTHER, { cause: error });
}

/**
 * `svc restore`: writes a backup into an empty database and an empty folder of blobs. Applies the migrations of the backup first
 * and later ones afterwards, and verifies the log. The next start rebuilds the read models and the passage index. A failed restore
 * leaves neither events nor blobs, so that it can be repeated. Throws CliError.
 */
export async function restore({ from }: { from: string }): Promise<void> {
  const settings = readSettings(process.env);
  const databaseUrl = serviceAddress(settings, "database_url");
  const blobs = join(settings.DATA_DIR, "blobs");
  const manifest = await readManifest(from);
  await requireBlobs(from, manifest);
  await checkPlace(databaseUrl, blobs, manifest);
  const migrated = (options?: { upTo: string }) =>
    migrate(databaseUrl, options).catch((error: unknown) => throwExplained(databaseUrl, error));
  await migrated({ upTo: manifest.migrations.toSorted().at(-1)! });
  await withBlobs(from, blobs, async () => {
    const tables = manifest.tables.map((name) => ({ name, lines: readTable(from, name) }));
    await loadDump(databaseUrl, tables, (db) => checkTip(db, manifest)).catch((error: unknown) =>
      explainLoading(from, databaseUrl, error),
    );
  });
  await migrated();
  const { position } = manifest.tip;
  print(`Restored up to position ${position}, and the chain is intact. Start the service with the same MASTER_KEY.`);
}
