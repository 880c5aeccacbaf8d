import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startEmbeddedServers } from "#infra/embedded/index.ts";
import { scrub } from "#infra/postgres/scrub.ts";
import { scrubOptions } from "../../roles/scrubbing.ts";
import { testDataFolder } from "../harness.ts";
import { startPlatform } from "../platform.ts";
import { tablesWith } from "../tables.ts";
import { administer } from "../template.ts";
import { newCanary, plantCanary } from "./canary.ts";
import { filesWith } from "./filesWith.ts";

/* Deleted content is gone from all tables at once, and from all files except those that docs/operating.md names. */

const soon = { timeout: 60_000, interval: 200 };
/** Files that may have deleted content for some days: free space in pages of PostgreSQL and the search server, the WAL, frames. */
const RETAINING_FILES = [
  /postgres\/18\/base\/\d+\/\d+$/,
  /postgres\/18\/pg_wal\/[0-9A-F]{24}$/,
  /meili\/data\/indexes\/[^/]+\/data\.mdb$/,
  /nats\/jetstream\/.*_FRAMES\/msgs\/\d+\.blk$/,
];
/** Upper limit of the WAL segments that PostgreSQL keeps and reuses. */
const MAX_WAL_SEGMENTS = 64;

test("after its deletion and a scrub, a canary in every text that a client can send is in no table and no file", async () => {
  const folder = await testDataFolder();
  const services = await startEmbeddedServers({ DATA_DIR: folder }, () => {});
  const elsewhere = await readFile(join(folder, "postgres.path"), "utf8").catch(() => undefined);
  const canary = newCanary();
  const inFiles = async () => {
    const roots = elsewhere ? [folder, elsewhere.trim()] : [folder];
    return (await Promise.all(roots.map((root) => filesWith(root, canary)))).flat();
  };
  const { stop: stopServices, ...where } = services;
  const addresses = { ...where, master_key: Buffer.alloc(32, 3).toString("base64") };
  const platform = await startPlatform({ deployment: { addresses, prefix: "erasure", folder } });
  const { db } = platform.resources;
  const onDisk = (statement: string) => administer(addresses.database_url, statement);

  const remove = await plantCanary({ url: platform.url, credentials: await platform.organization() }, canary);
  await onDisk("analyze");
  await onDisk("checkpoint");
  expect(await tablesWith(db, canary)).toEqual(expect.arrayContaining(["read.turns", "read.documents", "read.users"]));
  const before = await inFiles();
  for (const store of RETAINING_FILES)
    expect(
      before.some((file) => store.test(file)),
      String(store),
    ).toBe(true);

  await remove();
  await expect.poll(() => tablesWith(db, canary), soon).toEqual([]);
  expect((await inFiles()).filter((file) => !RETAINING_FILES.some((store) => store.test(file)))).toEqual([]);

  await scrub(scrubOptions(platform.resources), new AbortController().signal);
  await expect.poll(() => db.query("select * from ops.index_builds"), soon).toEqual([]);
  for (let segment = 0; segment < MAX_WAL_SEGMENTS && (await inFiles()).length > 0; segment++) {
    await onDisk("select pg_switch_wal()");
    await onDisk("checkpoint");
  }
  expect(await inFiles()).toEqual([]);
  await platform.stop();
  await stopServices();
});
