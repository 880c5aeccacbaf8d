import type { AddressInfo } from "node:net";
import { Registry } from "prom-client";
import { buildServer } from "#http/server.ts";
import { openCatalog } from "#infra/models/index.ts";
import { createChecker } from "#infra/scripts/check.ts";
import { openScripts } from "#infra/scripts/openScripts.ts";
import { openSearchEngine } from "#infra/meilisearch/searchEngine.ts";
import { together } from "#infra/postgres/together.ts";
import { findKeysByHash } from "#projections/keys/query.ts";
import { createStanding } from "#projections/passed.ts";
import { deploymentCredentials } from "./credentials.ts";
import { readHealth } from "./health.ts";
import type { Opened } from "./open.ts";

/** The public face. Resolves when it listens; `address` is where. */
export async function startHttp(opened: Opened) {
  const { settings, addresses, db, pool, bus, log, keyring, blobs, logger, worker } = opened;
  const catalog = openCatalog({
    offline: settings.OFFLINE_MODELS,
    deployment: deploymentCredentials(settings),
    unseal: (organization, provider, sealed) => keyring.openSecret(`provider:${organization}:${provider}`, sealed),
    privateHosts: settings.PRIVATE_PROVIDER_HOSTS,
  });
  const scripts = openScripts({ processes: 1 });
  const engine = openSearchEngine({ url: addresses.meili_url, key: addresses.meili_master_key });
  const keys = together((hashes) => findKeysByHash(db, hashes));
  const { passed, doubt, regained } = createStanding({ hints: bus.hints, db });
  pool.on("remove", doubt);
  const app = await buildServer({
    settings,
    db,
    keyByHash: async (hash) => (await keys([hash])).get(hash),
    sender: bus.sender(log),
    frames: bus.frames,
    keyring,
    blobs,
    engine,
    catalog,
    scripts: createChecker(scripts),
    passed,
    history: (stream, fromVersion) => log.read(stream, fromVersion),
    slice: (organization, asked) => log.slice(organization, asked),
    onCommitted: (listener) => bus.hints.onCommitted(listener),
    onProjected: (listener) => bus.hints.onProjected(listener),
    regained,
    health: () => readHealth(opened),
    logger,
    registry: new Registry(),
    httpId: worker,
  });
  await app.listen({ port: settings.PORT, host: settings.HOST });
  const { address, port } = app.server.address() as AddressInfo;
  return {
    address: `http://${address.includes(":") ? `[${address}]` : address}:${port}`,
    app,
    async stop() {
      await app.close();
      await engine.close();
      await scripts.close();
    },
  };
}
