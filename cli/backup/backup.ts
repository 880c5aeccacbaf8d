import { createWriteStream } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { readSettings } from "#infra/config.ts";
import { copyBlobs } from "#infra/copyBlobs.ts";
import { withSnapshot, type Snapshot } from "#infra/postgres/dump.ts";
import { throwExplained, serviceAddress } from "../connect.ts";
import { print, printJson } from "../output.ts";
import { blobsFolder, fillFolder, manifestFile, requireBlobsFolder, tableFile, type Manifest } from "./format.ts";

async function writeTable(folder: string, { rows }: Snapshot, table: string): Promise<void> {
  const path = tableFile(folder, table);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await pipeline(rows(table), createGzip({ level: 1 }), createWriteStream(path, { mode: 0o600, flush: true }));
}

async function writeBackup(out: string, address: string, source: string): Promise<Manifest> {
  const manifest = await withSnapshot(address, async (snapshot) => {
    const { tip, migrations, tables } = snapshot;
    for (const table of tables) await writeTable(out, snapshot, table);
    return { format: 1, created_at: new Date().toISOString(), tip, migrations, tables } as const;
  }).catch((error: unknown) => throwExplained(address, error));
  const written: Manifest = { ...manifest, blobs: await copyBlobs(source, blobsFolder(out)) };
  await writeFile(manifestFile(out), JSON.stringify(written, null, 2), { mode: 0o600, flush: true });
  return written;
}

/**
 * `svc backup`: writes the log, the data keys and the blobs into a new folder while the service runs. The database comes first,
 * because a blob is written before the event that names it. Throws CliError.
 */
export async function backup({ out, json }: { out: string; json?: boolean }): Promise<void> {
  const settings = readSettings(process.env);
  const [address, source] = [serviceAddress(settings, "database_url"), join(settings.DATA_DIR, "blobs")];
  requireBlobsFolder(source);
  const written = await fillFolder(out, () => writeBackup(out, address, source));
  if (json) printJson(written);
  else
    print(
      `The backup in ${out} ends at position ${written.tip.position} of the log and has ${written.blobs} blobs.\nStore the master key elsewhere, and with it: --expect ${written.tip.position}:${written.tip.hash}`,
    );
}
