import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startServices } from "#infra/embedded/index.ts";
import { scrub } from "#infra/postgres/scrub.ts";
import { scrubbingOf } from "../../roles/scrubbing.ts";
import { testDataFolder } from "../harness.ts";
import { startPlatform } from "../platform.ts";
import { tablesWith } from "../tables.ts";
import { administer } from "../template.ts";
import { newCanary, plant } from "./canary.ts";
import { filesWith } from "./traces.ts";

/* Deletion proves itself: what was deleted is in no table at once, and in no file but those that docs/operating.md names. */

const soon = { timeout: 30_000, interval: 200 };
/** As docs/operating.md names them: free space of PostgreSQL's and the search server's pages, the log ahead of writing, frames. */
const FOR_A_WHILE = [
  /postgres\/18\/base\/\d+\/\d+$/,
  /postgres\/18\/pg_wal\/[0-9A-F]{24}$/,
  /meili\/data\/indexes\/[^/]+\/data\.mdb$/,
  /nats\/jetstream\/.*_FRAMES\/msgs\/\d+\.blk$/,
];
/** PostgreSQL keeps at most so many segments of its log, and overwrites one an hour. */
const SEGMENTS = 64;

test("a canary that was chatted, uploaded, indexed and named is in no store once it is deleted", async () => {
  const folder = await testDataFolder();
  const services = await startServices({ DATA_DIR: folder }, () => {});
  const elsewhere = await readFile(join(folder, "postgres.path"), "utf8").catch(() => undefined);
  const canary = newCanary();
  const inFiles = async () => {
    const roots = elsewhere ? [folder, elsewhere.trim()] : [folder];
    return (await Promise.all(roots.map((root) => filesWith(root, canary)))).flat();
  };
  const { stop: stopServices, ...where } = services;
  const addresses = { ...where, master_key: Buffer.alloc(32, 3).toString("base64") };
  const platform = await startPlatform({ deployment: { addresses, prefix: "erasure", folder } });
  const { db } = platform.opened;
  const onDisk = (statement: string) => administer(addresses.database_url, statement);

  const remove = await plant({ url: platform.url, credentials: await platform.organization() }, canary);
  await onDisk("analyze");
  await onDisk("checkpoint");
  expect(await tablesWith(db, canary)).toEqual(expect.arrayContaining(["read.turns", "read.documents", "read.users"]));
  const before = await inFiles();
  for (const store of FOR_A_WHILE)
    expect(
      before.some((file) => store.test(file)),
      String(store),
    ).toBe(true);

  await remove();
  await expect.poll(() => tablesWith(db, canary), soon).toEqual([]);
  expect((await inFiles()).filter((file) => !FOR_A_WHILE.some((store) => store.test(file)))).toEqual([]);

  await scrub(scrubbingOf(platform.opened), new AbortController().signal);
  await expect.poll(() => db.query("select * from ops.index_builds"), soon).toEqual([]);
  for (let segment = 0; segment < SEGMENTS && (await inFiles()).length > 0; segment++) {
    await onDisk("select pg_switch_wal()");
    await onDisk("checkpoint");
  }
  expect(await inFiles()).toEqual([]);
  await platform.stop();
  await stopServices();
}, 240_000);
