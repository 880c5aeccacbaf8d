import { createWriteStream, existsSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { readSettings } from "#infra/config.ts";
import { copyBlobs } from "#infra/copyBlobs.ts";
import { withSnapshot, type Snapshot } from "#infra/postgres/dump.ts";
import { throwExplained, serviceAddress } from "../connect.ts";
import { print, printJson } from "../output.ts";
import { CliError } from "../cliError.ts";
import { blobsFolder, manifestFile, requireBlobsFolder, tableFile, type Manifest } from "./format.ts";

const isFilled = async (folder: string): Promise<boolean> => existsSync(folder) && (await readdir(folder)).length > 0;

async function writeTable(folder: string, { rows }: Snapshot, table: string): Promise<void> {
  const path = tableFile(folder, table);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await pipeline(rows(table), createGzip({ level: 1 }), createWriteStream(path, { mode: 0o600, flush: true }));
}

/**
 * `svc backup`: writes the log, the data keys and the blobs into a new folder while the service runs. The database comes first,
 * because a blob is written before the event that names it. Throws CliError.
 */
export async function backup({ out, json }: { out: string; json?: boolean }): Promise<void> {
  const settings = readSettings(process.env);
  const [address, source] = [serviceAddress(settings, "database_url"), join(settings.DATA_DIR, "blobs")];
  requireBlobsFolder(source);
  if (await isFilled(out)) throw new CliError(`${out} is not empty`, "name a new folder");
  await mkdir(out, { recursive: true, mode: 0o700 });
  const manifest = await withSnapshot(address, async (snapshot) => {
    const { tip, migrations, tables } = snapshot;
    for (const table of tables) await writeTable(out, snapshot, table);
    return { format: 1, created_at: new Date().toISOString(), tip, migrations, tables } as const;
  }).catch((error: unknown) => throwExplained(address, error));
  const blobs = await copyBlobs(source, blobsFolder(out));
  const written: Manifest = { ...manifest, blobs };
  await writeFile(manifestFile(out), JSON.stringify(written, null, 2), { mode: 0o600, flush: true });
  if (json) printJson(written);
  else
    print(
      `The backup in ${out} ends at position ${written.tip.position} of the log and has ${blobs} blobs.\nStore the master key elsewhere, and with it: --expect ${written.tip.position}:${written.tip.hash}`,
    );
}
