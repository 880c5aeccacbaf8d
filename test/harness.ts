import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, inject } from "vitest";
import { removeStreams } from "./bus/streams.ts";
import { makeDataFolder, removeDataFolder } from "./dataFolder.ts";
import { administer, freshName, withDatabase } from "./template.ts";

const left: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const remove of left.reverse()) await remove();
});

/** A migrated, empty database of the caller's own. It is dropped, open connections and all, by `drop` or after the test file. */
export const testDatabase = async () => {
  const { database_url, template } = inject("services");
  const name = freshName("test");
  await administer(database_url, `create database ${name} template ${template}`);
  const drop = () => administer(database_url, `drop database if exists ${name} with (force)`);
  left.push(drop);
  return { url: withDatabase(database_url, name), drop };
};

/** The NATS server's address and a prefix for subjects and streams that nobody else uses; the streams are removed after the test file. */
export const testBus = () => {
  const bus = { url: inject("services").nats_url, prefix: freshName("bus") };
  left.push(() => removeStreams(bus));
  return bus;
};

/** The Meilisearch server's address, its master key and a prefix for indexes that nobody else uses. */
export const testSearch = () => {
  const { meili_url, meili_master_key } = inject("services");
  return { url: meili_url, master_key: meili_master_key, prefix: freshName("index") };
};

/** An empty folder that is removed after the test file. */
export const testFolder = async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-folder-"));
  left.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

/** A data folder for services of the caller's own, removed after the test file. */
export const testDataFolder = async () => {
  const folder = await makeDataFolder();
  left.push(() => removeDataFolder(folder));
  return folder;
};
