import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { startEmbeddedServers } from "#infra/embedded/index.ts";
import { dockerAnswers, startContainers } from "./containers.ts";
import { makeDataFolder, removeDataFolder } from "./dataFolder.ts";
import { removeLeftovers } from "./leftovers.ts";
import { freshName, makeTemplates } from "./template.ts";

export type TestServices = {
  database_url: string;
  nats_url: string;
  meili_url: string;
  meili_master_key: string;
  /** Names of databases to clone. */
  templates: { migrated: string; ready: string };
  /** Names of databases, streams and folders that live as long as this run begin with it. */
  run: string;
};
declare module "vitest" {
  export interface ProvidedContext {
    services: TestServices;
  }
}

const { DATABASE_URL, NATS_URL, MEILI_URL, MEILI_MASTER_KEY } = process.env;
const given = { DATABASE_URL, NATS_URL, MEILI_URL, MEILI_MASTER_KEY };
const allGiven = DATABASE_URL && NATS_URL && MEILI_URL;

// Servers without a given address run in containers if a Docker daemon answers, and else as embedded servers.
const start = async () => {
  if (!allGiven && (await dockerAnswers())) return startContainers(given);
  const folder = await makeDataFolder();
  const services = await startEmbeddedServers({ ...given, DATA_DIR: folder }, (line) => console.error(line));
  const stop = async () => {
    await services.stop();
    await removeDataFolder(folder);
  };
  return { ...services, stop };
};

/** The HTTP role serves the built console, if it is built. */
const buildConsole = () =>
  promisify(execFile)(process.execPath, [join(import.meta.dirname, "..", "dev", "console", "build.ts")]);

export default async function setup(project: TestProject) {
  // An exit runs the hook that stops the servers. Without these listeners, a signal would end the process without it.
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(name, () => process.exit(1));
  const [{ stop, ...services }] = await Promise.all([start(), buildConsole()]);
  const templates = await makeTemplates(services.database_url);
  const run = freshName("run");
  project.provide("services", { ...services, templates: templates.names, run });
  return async () => {
    await removeLeftovers(services, run);
    await templates.drop();
    await stop();
  };
}
