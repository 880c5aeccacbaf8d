import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterAll, expect, test } from "vitest";
import { SPACE_USES, type SpaceUse } from "#events/freeSpace.ts";
import { judgeSpace, storeFolders, watchFreeSpace } from "./freeSpace.ts";

const PERCENT = [5, 3, 1];
const NONE: ReadonlySet<SpaceUse> = new Set();
const logger = pino({ level: "silent" });
const folder = await mkdtemp(join(tmpdir(), "free-space-"));
afterAll(() => rm(folder, { recursive: true }));

const refusedAt = (free: number, before = NONE): SpaceUse[] => [
  ...judgeSpace({ postgres: { free }, blobs: { free } }, PERCENT, before),
];

test("the least important writes are refused first", () => {
  expect(refusedAt(0.05)).toEqual([]);
  expect(refusedAt(0.049)).toEqual(["documents", "files"]);
  expect(refusedAt(0.029)).toEqual(["documents", "files", "attachments", "runs"]);
  expect(refusedAt(0.009)).toEqual(SPACE_USES);
});

test("refused writes are accepted again once a fifth more space is free than they need", () => {
  const before = new Set(refusedAt(0.009));
  expect(refusedAt(0.0119, before)).toEqual(SPACE_USES);
  expect(refusedAt(0.0121, before)).not.toContain("turns");
  expect(refusedAt(0.0599, before)).toEqual(["documents", "files"]);
  expect(refusedAt(0.0601, before)).toEqual([]);
});

test("only what writes to the full disk is refused", () => {
  const refused = (store: string) => [...judgeSpace({ [store]: { free: 0 } }, PERCENT, NONE)];
  expect(refused("blobs")).toEqual(["documents", "files", "attachments"]);
  expect(refused("meilisearch")).toEqual(["documents"]);
  expect(refused("postgres")).toEqual(SPACE_USES);
  expect(refused("nats")).toEqual(SPACE_USES);
  expect([...judgeSpace({ blobs: { free: 0, problem: "EROFS" } }, PERCENT, NONE)]).toEqual([]);
});

test("servers with an address are elsewhere; PostgreSQL's folder may be outside the data folder", async () => {
  const own = { DATABASE_URL: undefined, NATS_URL: undefined, MEILI_URL: undefined };
  const all = { blobs: `${folder}/blobs`, nats: `${folder}/nats`, meilisearch: `${folder}/meili` };
  expect(storeFolders({ DATA_DIR: folder, ...own })).toEqual({ ...all, postgres: `${folder}/postgres` });
  await writeFile(join(folder, "postgres.path"), "/var/tmp/elsewhere\n");
  expect(storeFolders({ DATA_DIR: folder, ...own })).toEqual({ ...all, postgres: "/var/tmp/elsewhere/postgres" });
  const others = { DATABASE_URL: "postgres://db", NATS_URL: "nats://bus", MEILI_URL: "http://search" };
  expect(storeFolders({ DATA_DIR: folder, ...others })).toEqual({ blobs: all.blobs });
});

test("a watch reads real folders, and leaves out those that do not exist", async () => {
  await mkdir(join(folder, "blobs"));
  const folders = { blobs: join(folder, "blobs"), postgres: join(folder, "none") };
  const watch = await watchFreeSpace({ folders, percent: PERCENT, logger });
  const disks = await watch.look();
  watch.stop();
  expect(Object.keys(disks)).toEqual(["blobs"]);
  expect(disks.blobs!.free).toBeGreaterThan(0);
  expect(disks.blobs!.free).toBeLessThan(1);
});

test("a disk that does not answer is asked once", async () => {
  let asked = 0;
  let answer = (_: { free: number }): void => {};
  const read = () =>
    asked++ === 0 ? Promise.resolve({ free: 0.5 }) : new Promise<{ free: number }>((resolve) => (answer = resolve));
  const watch = await watchFreeSpace({ folders: { blobs: folder }, percent: PERCENT, logger, read });
  const looks = [watch.look(), watch.look()];
  expect(asked).toBe(2);
  expect(watch.isRefused("documents")).toBe(false);
  answer({ free: 0.02 });
  expect(await Promise.all(looks)).toEqual([{ blobs: { free: 0.02 } }, { blobs: { free: 0.02 } }]);
  expect(watch.isRefused("documents")).toBe(true);
  expect(watch.isRefused("turns")).toBe(false);
  watch.stop();
});
