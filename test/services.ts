import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startServices } from "#infra/embedded/index.ts";
import { dockerAnswers, startContainers } from "./containers.ts";
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
  const folder = await mkdtemp(join(tmpdir(), "svc-test-"));
  await chmod(folder, 0o711);
  const services = await startServices({ ...given, DATA_DIR: folder }, (line) => console.error(line));
  const stop = async () => {
    await services.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return { ...services, stop };
};

export default async function setup(project: TestProject) {
  const { stop, ...services } = await start();
  const template = await makeTemplate(services.database_url);
  project.provide("services", { ...services, template: template.name });
  return async () => {
    await template.drop();
    await stop();
  };
}
