import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import { removeStreams } from "./bus/streams.ts";
import { afterFile, atEnd, type Lifetime } from "./cleanUp.ts";
import { makeDataFolder, removeDataFolder } from "./dataFolder.ts";
import { administer, freshName, withDatabase } from "./template.ts";

/** A unique name of at most 32 characters. With the lifetime `run` it begins with the name of the run, whose end removes such names. */
const nameFor = (kind: string, lifetime: Lifetime): string =>
  lifetime === "file" ? freshName(kind) : `${inject("services").run}_${randomBytes(4).toString("hex")}`;

/**
 * A new empty database: migrated, or also with read models (`ready`). `drop`, or the end of its lifetime, closes its connections and
 * drops it.
 */
export const testDatabase = async (kind: "migrated" | "ready" = "migrated", lifetime: Lifetime = "file") => {
  const { database_url, templates } = inject("services");
  const name = nameFor("test", lifetime);
  await administer(database_url, `create database ${name} template ${templates[kind]}`);
  const drop = () => administer(database_url, `drop database if exists ${name} with (force)`);
  atEnd(lifetime, drop);
  return { url: withDatabase(database_url, name), drop };
};

/** The NATS server's address, and a unique prefix for subjects and streams. The end of the lifetime removes the streams. */
export const testBus = (lifetime: Lifetime = "file") => {
  const bus = { url: inject("services").nats_url, prefix: nameFor("bus", lifetime) };
  atEnd(lifetime, () => removeStreams(bus));
  return bus;
};

/** The Meilisearch server's address, its master key and a unique prefix for indexes. */
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

/** A data folder for services that a test starts, removed after the test file. */
export const testDataFolder = async () => {
  const folder = await makeDataFolder();
  afterFile(() => removeDataFolder(folder));
  return folder;
};
