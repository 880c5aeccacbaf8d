import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { readSettings } from "#infra/config.ts";
import { copyBlobs } from "#infra/copyBlobs.ts";
import { inspectPlace, loadDump } from "#infra/postgres/dump.ts";
import { DatabaseTooNew, migrate } from "#infra/postgres/migrate.ts";
import { verifyLog } from "#infra/postgres/verify.ts";
import { throwExplained, openDatabase, serviceAddress } from "../connect.ts";
import { print } from "../output.ts";
import { Problem } from "../problem.ts";
import { blobsFolder, readManifest, requireBlobs, type Manifest } from "./format.ts";
import { readTable } from "./readTable.ts";

/** Throws Problem when something is there already, and DatabaseTooNew when the backup has migrations that this program lacks. */
async function checkPlace(databaseUrl: string, blobs: string, { migrations }: Manifest): Promise<void> {
  const { all, applied, position } = await inspectPlace(databaseUrl).catch((error: unknown) =>
    throwExplained(databaseUrl, error),
  );
  const newer = migrations.filter((name) => !all.includes(name));
  if (newer.length > 0) throw new DatabaseTooNew(newer);
  const next = "restore into an empty database and an empty DATA_DIR";
  if (position > 0) throw new Problem("The database has events already", next);
  const later = applied.filter((name) => !migrations.includes(name));
  if (later.length > 0) throw new Problem(`The database has ${later.join(", ")}, which the backup lacks`, next);
  if (existsSync(blobs) && (await readdir(blobs)).length > 0) throw new Problem(`${blobs} is not empty`, next);
}

/**
 * `svc restore`: writes a backup into an empty database and an empty folder of blobs, with the migrations of that time first and
 * the later ones afterwards, and verifies the log. The read models and the passage index are built again by the next start. Throws Problem.
 */
export async function restore({ from }: { from: string }): Promise<void> {
  const settings = readSettings(process.env);
  const databaseUrl = serviceAddress(settings, "database_url");
  const blobs = join(settings.DATA_DIR, "blobs");
  const manifest = await readManifest(from);
  await requireBlobs(from, manifest);
  await checkPlace(databaseUrl, blobs, manifest);
  await migrate(databaseUrl, { upTo: manifest.migrations.toSorted().at(-1)! });
  await copyBlobs(blobsFolder(from), blobs);
  const tables = manifest.tables.map((name) => ({ name, lines: readTable(from, name) }));
  await loadDump(databaseUrl, tables);
  await migrate(databaseUrl);
  const { pool, db } = await openDatabase(settings);
  try {
    const { position, hash } = await verifyLog(db, () => {});
    if (position !== manifest.tip.position || hash !== manifest.tip.hash)
      throw new Problem(
        `The restored log ends at ${position}:${hash}, the backup at ${manifest.tip.position}:${manifest.tip.hash}`,
        "restore another backup",
      );
    print(`Restored up to position ${position}, and the chain is intact. Start the service with the same MASTER_KEY.`);
  } finally {
    await pool.end();
  }
}
