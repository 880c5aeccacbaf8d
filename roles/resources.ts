import { join } from "node:path";
import type { Logger } from "pino";
import { useClock } from "#events/clock.ts";
import { connectBus, type Bus } from "#infra/nats/connect.ts";
import { openBlobs } from "#infra/blobs.ts";
import { makeFolder } from "#infra/folders.ts";
import { storeFolders, watchFreeSpace } from "#infra/freeSpace.ts";
import { keepNewBlobs } from "#infra/newBlobs.ts";
import { openVault } from "#infra/vault.ts";
import { openKeyring } from "#infra/keyring.ts";
import { createLogger } from "#infra/logger.ts";
import { openSchemaChecker } from "#infra/schemas/openSchemaChecker.ts";
import { openTelemetry } from "#infra/telemetry/open.ts";
import { watchAppends } from "#infra/postgres/appendWatch.ts";
import { newWorkerName, startHeartbeat } from "#infra/postgres/heartbeat.ts";
import { watchReach } from "#infra/postgres/reach.ts";
import { watchSameBus } from "#infra/postgres/sameBus.ts";
import { watchClock } from "#infra/postgres/clock.ts";
import { openLog } from "#infra/postgres/log.ts";
import { watchLogLimits } from "#infra/postgres/logLimits.ts";
import { asDb, openPool } from "#infra/postgres/pool.ts";
import type { Settings } from "#infra/config.ts";
import { watchRates } from "#projections/budgets/rateWatch.ts";
import type { Db } from "#projections/projection.ts";
import { retryWhileUnavailable } from "#services/retryWhileUnavailable.ts";
import { createFairSemaphore } from "#services/sharing/fairSemaphore.ts";
import { createRunMemory } from "#services/workflows/runMemory.ts";

/** Addresses of PostgreSQL, NATS and Meilisearch, and the master key of this deployment. */
export interface Addresses {
  database_url: string;
  nats_url: string;
  meili_url: string;
  meili_master_key: string;
  /** 32 bytes, base64. */
  master_key: string;
}

export interface ResourceOptions {
  /** Part of the worker's name, and of the names of its connections. */
  role: string;
  settings: Settings;
  addresses: Addresses;
}

/** Shared by all roles of the process, because http and workflow steps share limits. */
const openLimits = ({ settings }: ResourceOptions, db: Db, bus: Bus, worker: string, logger: Logger) => ({
  rates: watchRates({
    db,
    exchange: bus.turnNews,
    process: worker,
    onError: (error) => logger.warn({ err: error }, "turns of the last minute not read, retrying"),
  }),
  logLimits: watchLogLimits({ db, settings, logger }),
  runMemory: createRunMemory(settings.RUN_MEMORY_MEGABYTES),
});

async function openBlobFolder({ DATA_DIR }: Settings) {
  const folder = join(DATA_DIR, "blobs");
  await makeFolder(folder);
  return keepNewBlobs(openBlobs(folder));
}

const watchBus = (db: Db, bus: Bus, worker: string, logger: Logger) =>
  watchSameBus({ db, worker, logger, identify: bus.identity, onApart: () => bus.faults.report("bus_apart") });

const watchDisks = (settings: Settings, logger: Logger) =>
  watchFreeSpace({ folders: storeFolders(settings), percent: settings.FREE_DISK_PERCENT, logger });

const watchOwnClock = (db: Db, bus: Bus, settings: Settings, logger: Logger) =>
  watchClock({
    db,
    logger,
    max_offset_ms: settings.CLOCK_OFFSET_SECONDS * 1_000,
    onOff: () => bus.faults.report("clock_off"),
  });

const startBeating = (pool: ReturnType<typeof openPool>, names: { worker: string; role: string }, logger: Logger) =>
  startHeartbeat(pool, names, (err) => logger.warn({ err }, "heartbeat failed"));

const openBus = ({ role, settings, addresses }: ResourceOptions, log: Logger): Promise<Bus> =>
  connectBus({
    url: addresses.nats_url,
    prefix: settings.BUS_PREFIX,
    name: `svc ${role}`,
    log,
    limits: { replicas: settings.NATS_REPLICAS },
  });

/** Opens the connections and keys of one process of the deployment. Stops waiting for PostgreSQL when `stopping` aborts. */
export async function openResources(options: ResourceOptions, stopping?: AbortSignal) {
  const { role, settings, addresses } = options;
  const logger = createLogger(settings.LOG_LEVEL, role);
  const worker = newWorkerName(role);
  const pool = openPool(addresses.database_url, { max: 12, name: worker });
  const keyring = openKeyring(Buffer.from(addresses.master_key, "base64"));
  const appends = watchAppends(pool, logger);
  const log = openLog(pool, keyring, appends.listener);
  const blobs = await openBlobFolder(settings);
  const freeSpace = await watchDisks(settings, logger);
  const bus = await openBus(options, logger);
  const onReplaced = () => bus.faults.report("connection_dropped");
  const reach = watchReach({ pool, url: addresses.database_url, name: worker, logger, onReplaced });
  const db = asDb(pool);
  // these are the first queries: a short failure of the network must not end the start
  const clock = await retryWhileUnavailable(() => watchOwnClock(db, bus, settings, logger), stopping);
  const heartbeat = await retryWhileUnavailable(() => startBeating(pool, { worker, role }, logger), stopping);
  const schemas = openSchemaChecker(createFairSemaphore({ total: 1, perTenant: 1 }).run);
  const sameBus = watchBus(db, bus, worker, logger);
  const releaseClock = useClock(clock.now);
  const limits = openLimits(options, db, bus, worker, logger);
  const telemetry = await openTelemetry({ settings, role, instance: worker, logger });

  return {
    settings,
    addresses,
    logger,
    pool,
    db,
    reach,
    sameBus,
    clock,
    keyring,
    log,
    appends,
    blobs,
    freeSpace,
    vault: openVault({ blobs, keyring, dataKeys: log }),
    bus,
    ...limits,
    schemas,
    worker,
    /** Whether this process's view of other workers' heartbeats is up to date. */
    isSteady: heartbeat.isSteady,
    async close(): Promise<void> {
      limits.rates.close();
      freeSpace.stop();
      await Promise.all([limits.logLimits.stop(), sameBus.stop()]);
      await clock.stop();
      releaseClock();
      await heartbeat.leave().catch(() => {});
      await schemas.close();
      await bus.close();
      appends.stop();
      await reach.stop();
      await pool.end();
      await telemetry.close();
    },
  };
}

export type Resources = Awaited<ReturnType<typeof openResources>>;
