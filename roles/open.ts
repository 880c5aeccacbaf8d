import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { connectBus } from "#infra/nats/connect.ts";
import { openBlobs } from "#infra/blobs.ts";
import { openKeyring } from "#infra/keyring.ts";
import { createLogger } from "#infra/logger.ts";
import { openTelemetry } from "#infra/telemetry/open.ts";
import { newWorker, startHeartbeat } from "#infra/postgres/heartbeat.ts";
import { openLog } from "#infra/postgres/log.ts";
import { asDb, openPool } from "#infra/postgres/pool.ts";
import type { Settings } from "#infra/config.ts";

/** Where the three services are and with which key this deployment seals. */
export interface Addresses {
  database_url: string;
  nats_url: string;
  meili_url: string;
  meili_master_key: string;
  /** 32 bytes, base64. */
  master_key: string;
}

export interface Worker {
  /** Shows in the workers' rows and in the names of connections. */
  role: string;
  settings: Settings;
  addresses: Addresses;
}

/** What every process of the deployment holds open. */
export async function open({ role, settings, addresses }: Worker) {
  const logger = createLogger(settings.LOG_LEVEL, role);
  const worker = newWorker(role);
  const pool = openPool(addresses.database_url, { max: 12, name: worker });
  const keyring = openKeyring(Buffer.from(addresses.master_key, "base64"));
  const log = openLog(pool, keyring);
  const blobFolder = join(settings.DATA_DIR, "blobs");
  await mkdir(blobFolder, { recursive: true });
  const blobs = openBlobs(blobFolder);
  const bus = await connectBus({
    url: addresses.nats_url,
    prefix: settings.BUS_PREFIX,
    name: `svc ${role}`,
    log: logger,
    limits: { replicas: settings.NATS_REPLICAS },
  });
  const heartbeat = await startHeartbeat(pool, { worker, role }, (error) =>
    logger.warn({ err: error }, "the heartbeat failed"),
  );
  const telemetry = await openTelemetry({ settings, role, instance: worker, logger });

  return {
    settings,
    addresses,
    logger,
    pool,
    db: asDb(pool),
    keyring,
    log,
    blobs,
    bus,
    worker,
    /** Whether what the heartbeats of others say can be believed now. */
    steady: heartbeat.steady,
    async close(): Promise<void> {
      await heartbeat.leave().catch(() => {});
      await bus.close();
      await pool.end();
      await telemetry.close();
    },
  };
}

export type Opened = Awaited<ReturnType<typeof open>>;
