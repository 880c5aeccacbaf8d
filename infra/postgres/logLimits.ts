import type { Logger } from "pino";
import type { LogLimits } from "#events/logLimits.ts";
import type { Db } from "#projections/projection.ts";
import { runPeriodically } from "./runPeriodically.ts";

const EVERY_MS = 5_000;
const MEGABYTE = 1_000_000;
const OVER = "select organization_id as id from ops.log_bytes where bytes > $1::bigint";

interface Options {
  db: Db;
  /** What the events of an organization may take. */
  megabytes: number;
  logger: Pick<Logger, "warn" | "info">;
}

interface LogLimitWatch extends LogLimits {
  /** Reads the figures now. */
  look(): Promise<void>;
  stop(): Promise<void>;
}

const describe = (megabytes: number): string =>
  `The events of the organization take more than ${megabytes} MB, so no new work is accepted. Events stay when ` +
  "things are deleted: ask an operator to raise ORGANIZATION_LOG_MEGABYTES.";

/** Watches which organizations are over the limit of their events. While it cannot look, the last figures hold. */
export function watchLogLimits({ db, megabytes, logger }: Options): LogLimitWatch {
  const refusal = { code: "storage_limit_reached" as const, message: describe(megabytes) };
  let over: ReadonlySet<string> = new Set();

  const look = async (): Promise<void> => {
    const rows = await db.query<{ id: string }>(OVER, [megabytes * MEGABYTE]);
    const next = new Set(rows.map(({ id }) => id));
    for (const organization_id of next.difference(over))
      logger.warn({ organization_id }, "organization over ORGANIZATION_LOG_MEGABYTES, its new work is refused");
    for (const organization_id of over.difference(next))
      logger.info({ organization_id }, "organization within ORGANIZATION_LOG_MEGABYTES again");
    over = next;
  };

  const stopped = new AbortController();
  const onError = (err: unknown): void =>
    logger.warn({ err }, "organizations over ORGANIZATION_LOG_MEGABYTES not read, retrying");
  const watching = runPeriodically(EVERY_MS, look, onError, stopped.signal);
  return {
    refusal: (organization) => (over.has(organization) ? refusal : undefined),
    countReached: () => over.size,
    look,
    async stop() {
      stopped.abort();
      await watching;
    },
  };
}
