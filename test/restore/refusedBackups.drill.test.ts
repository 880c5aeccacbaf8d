import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { beforeAll, expect, test } from "vitest";
import { openKeyring } from "#infra/keyring.ts";
import { openLog } from "#infra/postgres/log.ts";
import { openPool } from "#infra/postgres/pool.ts";
import { tableFile } from "../../cli/backup/format.ts";
import { testDatabase, testFolder } from "../harness.ts";
import { aStream, change } from "../log/log.ts";
import { testDeployment, type Deployment } from "../platform.ts";
import { svcOn } from "./svc.ts";

/* A backup that cannot be restored is named in words, and the place stays empty: the next one needs no hand. */

const BLOB = "files/one";
const EVENTS = 3;

let backup: string;
let place: Deployment;

beforeAll(async () => {
  const deployment = await testDeployment();
  const pool = openPool(deployment.addresses.database_url, { max: 1, name: "filler" });
  const log = openLog(pool, openKeyring(Buffer.alloc(32, 3)));
  for (let n = 0; n < EVENTS; n++) await log.append(change(aStream()));
  await pool.end();
  mkdirSync(join(deployment.folder, "blobs", "files"), { recursive: true });
  writeFileSync(join(deployment.folder, "blobs", BLOB), "one");
  backup = await testFolder();
  await svcOn(deployment, "backup", "--out", backup);
  const { url: database_url } = await testDatabase();
  place = { ...deployment, addresses: { ...deployment.addresses, database_url }, folder: await testFolder() };
});

const restore = (from: string) => svcOn(place, "restore", "--from", from);
const blobs = () => join(place.folder, "blobs");

/** A copy of the backup that was changed. */
async function changed(change: (folder: string) => void): Promise<string> {
  const copy = await testFolder();
  cpSync(backup, copy, { recursive: true });
  change(copy);
  return copy;
}
const rewrite = (path: string, change: (text: string) => string) =>
  writeFileSync(path, gzipSync(change(gunzipSync(readFileSync(path)).toString("utf8"))));
const nameTables = (folder: string, tables: string[]) => {
  const path = join(folder, "manifest.json");
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), tables }));
};

test.each<[string, (folder: string) => void, RegExp]>([
  [
    "is cut off",
    (folder) => {
      const path = tableFile(folder, "log.events");
      writeFileSync(path, readFileSync(path).subarray(0, -9));
    },
    /log\.events\.jsonl\.gz cannot be read to its end \(unexpected end of file\): restore another backup or another copy/,
  ],
  [
    "has rows of something else",
    (folder) => cpSync(tableFile(folder, "log.streams"), tableFile(folder, "log.events")),
    /log\.events\.jsonl\.gz does not fit the table log\.events \(.+\): restore another backup/,
  ],
  [
    "has lines that are no rows",
    (folder) => rewrite(tableFile(folder, "log.events"), () => "COPY log.events FROM stdin;\n"),
    /does not fit the table log\.events \(invalid input syntax for type json\): restore another backup/,
  ],
  [
    "names tables of something else",
    (folder) => nameTables(folder, ["log.head; drop table log.events"]),
    /does not fit the table log\.head; drop table log\.events \(the database has no such table\)/,
  ],
  [
    "has a changed event",
    (folder) => rewrite(tableFile(folder, "log.events"), (text) => text.replace("session_id", "session_ix")),
    /The log of the backup is damaged \(position 1: SessionEnded of \S+ is not what was written\): restore another/,
  ],
  [
    "lacks tables",
    (folder) => nameTables(folder, []),
    /The restored log ends at 0:\w+, the backup at 3:\w+: restore another backup/,
  ],
])("a backup that %s is refused without leaving data", async (_, change, message) => {
  await expect(restore(await changed(change))).rejects.toThrow(message);
  expect(existsSync(blobs()) ? readdirSync(blobs()) : []).toEqual([]);
});

test("a complete restore succeeds after one that was killed during its blobs, and after refused ones", async () => {
  mkdirSync(join(blobs(), "files"), { recursive: true });
  writeFileSync(join(blobs(), "files", "left"), "of another backup");
  await expect(restore(backup)).rejects.toThrow("is not empty: restore into an empty database");
  writeFileSync(join(blobs(), "restore.part"), "");
  expect(await restore(backup)).toContain(`Restored up to position ${EVENTS}`);
  expect(readdirSync(blobs())).toEqual(["files"]);
  expect(readdirSync(join(blobs(), "files"))).toEqual(["one"]);
});
