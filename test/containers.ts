import { request } from "node:http";

const socketPath = "/var/run/docker.sock";

/** Whether a Docker daemon answers on its socket. */
export const dockerAnswers = () =>
  new Promise<boolean>((resolve) => {
    const asked = request({ socketPath, path: "/_ping", timeout: 2_000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    asked.once("timeout", () => asked.destroy());
    asked.once("error", () => resolve(false));
    asked.end();
  });

type Given = { DATABASE_URL?: string; NATS_URL?: string; MEILI_URL?: string; MEILI_MASTER_KEY?: string };

/** Runs the official images for what no address is given; Ryuk, testcontainers' own watcher, removes them if we are killed. */
export const startContainers = async (given: Given) => {
  const { GenericContainer, Wait } = await import("testcontainers");
  const ready = Wait.forListeningPorts();
  const started: { stop: () => Promise<unknown> }[] = [];
  const run = async (image: string, port: number, environment: Record<string, string>, command: string[] = []) => {
    const container = await new GenericContainer(image)
      .withExposedPorts(port)
      .withEnvironment(environment)
      .withCommand(command)
      .withWaitStrategy(ready)
      .start();
    started.push(container);
    return `${container.getHost()}:${container.getMappedPort(port)}`;
  };
  const masterKey = given.MEILI_MASTER_KEY ?? "a-key-for-tests-only";
  const postgres = async () =>
    `postgres://postgres:test@${await run("postgres:18", 5432, { POSTGRES_PASSWORD: "test" })}/postgres`;
  const nats = async () => `nats://${await run("nats:2.15.0-alpine", 4222, {}, ["--jetstream"])}`;
  const meili = async () =>
    `http://${await run("getmeili/meilisearch:v1.21", 7700, { MEILI_MASTER_KEY: masterKey, MEILI_MAX_INDEXING_MEMORY: "512MiB" })}`;
  return {
    database_url: given.DATABASE_URL ?? (await postgres()),
    nats_url: given.NATS_URL ?? (await nats()),
    meili_url: given.MEILI_URL ?? (await meili()),
    meili_master_key: masterKey,
    stop: async () => {
      for (const container of started) await container.stop();
    },
  };
};
