import type { TestProject } from "vitest/node";
import { startServices } from "#infra/embedded/index.ts";
import { dockerAnswers, startContainers } from "./containers.ts";
import { makeDataFolder, removeDataFolder } from "./dataFolder.ts";
import { makeTemplate } from "./template.ts";

export type TestServices = {
  database_url: string;
  nats_url: string;
  meili_url: string;
  meili_master_key: string;
  template: string;
};
declare module "vitest" {
  export interface ProvidedContext {
    services: TestServices;
  }
}

const { DATABASE_URL, NATS_URL, MEILI_URL, MEILI_MASTER_KEY } = process.env;
const given = { DATABASE_URL, NATS_URL, MEILI_URL, MEILI_MASTER_KEY };
const allGiven = DATABASE_URL && NATS_URL && MEILI_URL;

// What no address is given for comes from containers where a Docker daemon answers, else from the embedded servers.
const start = async () => {
  if (!allGiven && (await dockerAnswers())) return startContainers(given);
  const folder = await makeDataFolder();
  const services = await startServices({ ...given, DATA_DIR: folder }, (line) => console.error(line));
  const stop = async () => {
    await services.stop();
    await removeDataFolder(folder);
  };
  return { ...services, stop };
};

export default async function setup(project: TestProject) {
  // An exit runs the hook that ends the services; a signal's own end of the process would not.
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(name, () => process.exit(1));
  const { stop, ...services } = await start();
  const template = await makeTemplate(services.database_url);
  project.provide("services", { ...services, template: template.name });
  return async () => {
    await template.drop();
    await stop();
  };
}
