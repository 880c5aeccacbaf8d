import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readSettings } from "#infra/config.ts";
import { openBlobs } from "#infra/blobs.ts";
import { startEmbeddedServers } from "#infra/embedded/index.ts";
import { openKeyring } from "#infra/keyring.ts";
import { openLog } from "#infra/postgres/log.ts";
import { asDb, openPool } from "#infra/postgres/pool.ts";
import type { Environment } from "../environment.ts";
import { checkAll } from "./checkAll.ts";
import { gatherEvidence } from "./evidence.ts";
import { allEvents } from "./events.ts";
import { summarize } from "./summary.ts";
import { openValues } from "./values.ts";

/**
 * The checker: `node dev/crash/check/run.ts FOLDER` checks the folder that a run left. It starts the services on its data, and
 * trusts only the stores and the journal.
 */
const folder = process.argv[2]!;
const { env } = JSON.parse(await readFile(join(folder, "run.json"), "utf8")) as { env: Environment };
const data = join(folder, "data");
const services = await startEmbeddedServers(readSettings({ DATA_DIR: data }), (line) =>
  process.stderr.write(`${line}\n`),
);
const pool = openPool(services.database_url, { max: 4, name: "svc crash check" });
try {
  const keyring = openKeyring(Buffer.from(env["MASTER_KEY"]!, "base64"));
  const log = openLog(pool, keyring);
  const blobFolder = join(data, "blobs");
  const stores = { folder: blobFolder, blobs: openBlobs(blobFolder), keyring, keys: log };
  const events = await allEvents(log);
  const evidence = gatherEvidence(join(folder, "journal.jsonl"), events, await openValues(stores, events));
  const verdict = await checkAll({ evidence, pool, db: asDb(pool), log, stores, folder, search: services });
  await writeFile(join(folder, "verdict.json"), JSON.stringify(verdict, null, 2));
  process.stdout.write(`${summarize(evidence, verdict)}\n`);
  process.exitCode = verdict.findings.length === 0 ? 0 : 1;
} finally {
  await pool.end();
  await services.stop();
}
