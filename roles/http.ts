import type { AddressInfo } from "node:net";
import { Registry } from "prom-client";
import type { CommandSender } from "#events/ports.ts";
import { MAX_CONCURRENT_HASHES } from "#http/auth/passwordQueue.ts";
import { createStartCodes } from "#http/auth/startCodes.ts";
import { MAX_ADMITTED, MAX_ADMITTED_OF_OWNER } from "#http/base/admitRequests.ts";
import type { HttpDeps } from "#http/base/deps.ts";
import { listen } from "#http/base/listen.ts";
import { LONG_READS } from "#http/base/longReads.ts";
import { measureRunMemory } from "#http/base/metrics.ts";
import { buildServer } from "#http/server.ts";
import { readPages } from "#infra/consoleFiles.ts";
import { openCatalog } from "#infra/models/index.ts";
import { createScriptChecker } from "#infra/sandbox/checkScript.ts";
import { openScripts } from "#infra/sandbox/openScripts.ts";
import { createRunReplayer } from "#infra/sandbox/replay/replayRun.ts";
import { openTypeChecker } from "#infra/sandbox/types/openTypeChecker.ts";
import { openSearchEngine } from "#infra/meilisearch/searchEngine.ts";
import { installedLanguages } from "#infra/readers/recognition/languages.ts";
import { createBreaker, type Breaker } from "#infra/postgres/breaker.ts";
import { fetchFile } from "#infra/web/fetchFile.ts";
import { guardedFetch } from "#infra/web/guardedFetch.ts";
import { batchLookups } from "#infra/postgres/batchLookups.ts";
import type { BudgetWatch } from "#projections/budgets/watch.ts";
import { openBudgets } from "./budgets.ts";
import { openHttpPorts } from "#infra/postgres/httpPorts.ts";
import { findCollections } from "#projections/collections/query.ts";
import { filterListedDocuments } from "#projections/documents/query.ts";
import { findKeysByHash } from "#projections/keys/query.ts";
import { findSessionsByTokenHash } from "#projections/sessions/query.ts";
import { findTriggersByToken } from "#projections/triggers/query.ts";
import { filterRunningTurns } from "#projections/turns/query.ts";
import type { Db } from "#projections/projection.ts";
import { trackProgress } from "#projections/progress.ts";
import { sendWhileOpen } from "#services/gates.ts";
import { preferLocal, type LocalHandler } from "#services/localCommands.ts";
import { createFairSemaphore } from "#services/sharing/fairSemaphore.ts";
import { passagesFrom } from "#services/reading/passageLines.ts";
import { deploymentCredentials } from "./credentials.ts";
import { openDescriptions } from "./descriptions.ts";
import { OTHER_BUS_PROBLEM, readHealth } from "./health.ts";
import type { Resources } from "./resources.ts";
import { createReadRunner, type ReadRunner } from "./requestReads.ts";
import { searchForRequests } from "./searchForRequests.ts";
import { openSearchModels } from "./searchModels.ts";
import { searchServer } from "./searchServer.ts";
import { openStored } from "./storedFiles.ts";

/** How long a sent command may wait for an unreachable database: a restart takes 1 to 3 s. */
const COMMAND_PATIENCE_MS = 2_500;

const openModels = ({ settings, keyring }: Resources) =>
  openCatalog({
    offline: settings.OFFLINE_MODELS,
    deployment: deploymentCredentials(settings),
    unseal: (organization, provider, sealed) => keyring.openSecret(`provider:${organization}:${provider}`, sealed),
    privateHosts: settings.PRIVATE_PROVIDER_HOSTS,
  });

/** What this process refuses for reasons of the deployment and of organizations. */
const limitsOf = ({ freeSpace, logLimits, rates }: Resources) => ({ freeSpace, logLimits, rates });

type Listeners = Pick<HttpDeps, "onCommitted" | "onProjected" | "onHealed" | "onRead">;

const listenTo = ({ hints, faults, readings }: Resources["bus"]): Listeners => ({
  onCommitted: (listener) => hints.onCommitted(listener),
  onProjected: (listener) => hints.onProjected(listener),
  onHealed: faults.onHealed,
  onRead: readings.subscribe,
});

const portsOf = (scripts: ReturnType<typeof openScripts>): Pick<HttpDeps, "scripts" | "replayer"> => ({
  scripts: createScriptChecker(scripts),
  replayer: createRunReplayer(scripts),
});

/** The gates of the API. While one is closed, it sends no commands. */
const gatesOf = ({ sameBus, clock }: Resources) => [
  // a command carries times of its sender's clock
  { gate: clock, closed: "The clock of this process differs from the database's" },
  { gate: sameBus, closed: OTHER_BUS_PROBLEM },
];

const addressOf = ({ address, port }: AddressInfo): string =>
  `http://${address.includes(":") ? `[${address}]` : address}:${port}`;

/** The API's read access to the log. */
const readsOf = (log: Resources["log"], read: ReadRunner) =>
  ({
    async *streamPages(stream, fromVersion) {
      const pages = log.pages(stream, fromVersion)[Symbol.asyncIterator]();
      for (;;) {
        const page = await read(() => pages.next());
        if (page.done) return;
        yield page.value;
      }
    },
    readAuditSlice: (organization, range) => read(() => log.slice(organization, range)),
    readHashes: (organization, positions) => read(() => log.hashes(organization, positions)),
    readEventHistogram: (organization, query) => read(() => log.histogram(organization, query)),
    checkChain: (organization, range) => read(() => log.checkChain(organization, range)),
  }) satisfies Partial<HttpDeps>;

/** Look-ups that concurrent requests share: any number of strangers with unknown credentials costs one query at a time. */
function sharedLookUps(db: Db) {
  const collections = batchLookups(async (keys) => {
    const found = await findCollections(
      db,
      keys.map((key) => key.split(" ") as [string, string]),
    );
    return new Map(keys.flatMap((key, n) => (found[n] ? [[key, found[n]]] : [])));
  });
  const documents = batchLookups<true>(
    async (ids) => new Map((await filterListedDocuments(db, ids)).map((id) => [id, true])),
  );
  const turns = batchLookups<true>(async (ids) => new Map((await filterRunningTurns(db, ids)).map((id) => [id, true])));
  const keys = batchLookups((hashes) => findKeysByHash(db, hashes));
  const sessions = batchLookups((hashes) => findSessionsByTokenHash(db, hashes));
  const triggers = batchLookups((tokens) => findTriggersByToken(db, tokens));
  return {
    async findCollection(organization: string, reference: string) {
      const key = `${organization} ${reference}`;
      return (await collections([key])).get(key);
    },
    isDocumentListed: async (id: string) => (await documents([id])).has(id),
    isTurnRunning: async (id: string) => (await turns([id])).has(id),
    findKeyByHash: async (hash: string) => (await keys([hash])).get(hash),
    findSessionByTokenHash: async (hash: string) => (await sessions([hash])).get(hash),
    findTriggerByToken: async (token: string) => (await triggers([token])).get(token),
    stored: openStored(db),
  } satisfies Partial<HttpDeps>;
}

function openRegistry({ runMemory }: Resources): Registry {
  const registry = new Registry();
  measureRunMemory(registry, runMemory.usage);
  return registry;
}

/** What is served without a credential. */
type PublicTexts = Pick<HttpDeps, "descriptions" | "consoleFiles" | "docsFiles" | "referenceFiles">;

const openPages = async (settings: Resources["settings"]): Promise<PublicTexts> => ({
  descriptions: openDescriptions(settings),
  ...(await readPages()),
});

const openPlaces = (): Pick<HttpDeps, "requestPlaces" | "longReadPlaces" | "passwordPlaces"> => ({
  longReadPlaces: createFairSemaphore(LONG_READS),
  requestPlaces: createFairSemaphore({ total: MAX_ADMITTED, perTenant: MAX_ADMITTED_OF_OWNER }),
  passwordPlaces: createFairSemaphore({ total: MAX_CONCURRENT_HASHES, perTenant: MAX_CONCURRENT_HASHES }),
});

function openSender({ bus, log, reach }: Resources, local: LocalHandler | undefined): CommandSender {
  const byBus = bus.sender(log, reach.isReachable);
  return local ? preferLocal(local, byBus) : byBus;
}

/** The services role of this process. */
export interface LocalServices {
  handler: LocalHandler;
  budgets: BudgetWatch;
}
interface CommandNeeds {
  db: Db;
  read: ReadRunner;
  breaker: Breaker;
  local: LocalServices | undefined;
}

function openCommands(
  resources: Resources,
  { db, read, breaker, local }: CommandNeeds,
): Pick<HttpDeps, "sender" | "budgets"> {
  const { send } = openSender(resources, local?.handler);
  const sender = sendWhileOpen(gatesOf(resources), (command) => breaker(() => send(command), COMMAND_PATIENCE_MS));
  if (!local) return { sender, budgets: openBudgets({ ...resources, db }, sender.send) };
  const { budgets } = local;
  // the others never throw: without new figures they answer from the last ones
  return { sender, budgets: { ...budgets, statuses: (organization) => read(() => budgets.statuses(organization)) } };
}

/** The role that serves the API. `local` handles commands in this process and shares its budgets. Resolves with the address once it listens. */
export async function startHttpRole(resources: Resources, local?: LocalServices) {
  const { settings, pool, bus, log, keyring, vault, blobs, logger, worker, schemas, reach } = resources;
  const breaker = createBreaker(reach);
  const read = createReadRunner(breaker);
  const db: Db = { query: (text, values) => read(() => resources.db.query(text, values)) };
  const scripts = openScripts({ processes: 1 });
  const types = openTypeChecker();
  const engine = searchForRequests(openSearchEngine(searchServer(resources, "search")));
  const fetchPublic = guardedFetch({ privateHosts: settings.PRIVATE_FETCH_HOSTS, webOnly: true });
  const progress = trackProgress({ hints: bus.hints, db });
  pool.on("remove", progress.invalidate);
  const startCodes = createStartCodes();
  const app = await buildServer({
    settings,
    db,
    ...openHttpPorts(db, log, worker),
    ...sharedLookUps(db),
    ...openCommands(resources, { db, read, breaker, local }),
    frames: bus.frames,
    keyring,
    vault,
    blobs,
    ...limitsOf(resources),
    passagesFrom,
    engine,
    models: openSearchModels(resources),
    fetchFile: (url, signal) => fetchFile(fetchPublic, url, signal),
    catalog: openModels(resources),
    ocrLanguages: installedLanguages(),
    ...openPlaces(),
    ...portsOf(scripts),
    types,
    schemas,
    waitForProjections: progress.waitFor,
    ...readsOf(log, read),
    ...listenTo(bus),
    recovered: progress.recovered,
    health: async () => ({ ...(await readHealth(resources, engine)), clock: { ok: resources.clock.isOpen() } }),
    deadLetters: bus.deadLetters,
    circuits: bus.circuits.ask,
    ...(await openPages(settings)),
    startCodes,
    logger,
    registry: openRegistry(resources),
    httpId: worker,
  });
  const address = await listen(app, { port: settings.PORT, host: settings.HOST });
  return {
    address: addressOf(address),
    app,
    startCodes,
    async stop() {
      await app.close();
      await engine.close();
      await scripts.close();
      await types.close();
    },
  };
}
