import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import { removeStreams } from "./bus/streams.ts";
import { afterFile, atEnd, type Lifetime } from "./cleanUp.ts";
import { makeDataFolder, removeDataFolder } from "./dataFolder.ts";
import { administer, freshName, withDatabase } from "./template.ts";

/** A name that nobody else uses, of at most 32 characters. What lives as long as the run begins with its name, which finds it at the end. */
const nameFor = (kind: string, lifetime: Lifetime): string =>
  lifetime === "file" ? freshName(kind) : `${inject("services").run}_${randomBytes(4).toString("hex")}`;

/**
 * An empty database of the caller's own: migrated, or also with read models (`ready`). It is dropped, open connections and all, by `drop`
 * or at the end of its lifetime.
 */
export const testDatabase = async (kind: "migrated" | "ready" = "migrated", lifetime: Lifetime = "file") => {
  const { database_url, templates } = inject("services");
  const name = nameFor("test", lifetime);
  await administer(database_url, `create database ${name} template ${templates[kind]}`);
  const drop = () => administer(database_url, `drop database if exists ${name} with (force)`);
  atEnd(lifetime, drop);
  return { url: withDatabase(database_url, name), drop };
};

/** The NATS server's address and a prefix for subjects and streams that nobody else uses; the streams are removed at the end of the lifetime. */
export const testBus = (lifetime: Lifetime = "file") => {
  const bus = { url: inject("services").nats_url, prefix: nameFor("bus", lifetime) };
  atEnd(lifetime, () => removeStreams(bus));
  return bus;
};

/** The Meilisearch server's address, its master key and a prefix for indexes that nobody else uses. */
export const testSearch = () => {
  const { meili_url, meili_master_key } = inject("services");
  return { url: meili_url, master_key: meili_master_key, prefix: freshName("index") };
};

/** An empty folder that is removed at the end of its lifetime. */
export const testFolder = async (lifetime: Lifetime = "file") => {
  const folder = await mkdtemp(join(tmpdir(), `${lifetime === "run" ? inject("services").run : "svc"}-folder-`));
  atEnd(lifetime, () => rm(folder, { recursive: true, force: true }));
  return folder;
};

/** A data folder for services of the caller's own, removed after the test file. */
export const testDataFolder = async () => {
  const folder = await makeDataFolder();
  afterFile(() => removeDataFolder(folder));
  return folder;
};
