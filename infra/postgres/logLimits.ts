import type { Logger } from "pino";
import type { LogLimits } from "#events/logLimits.ts";
import type { Db } from "#projections/projection.ts";
import { runPeriodically } from "./runPeriodically.ts";

const EVERY_MS = 5_000;
const MEGABYTE = 1_000_000;
const OVER = `
  select organization_id as id, bytes > $1::bigint as by_events from ops.log_bytes
  where bytes > $1::bigint or value_bytes > $2::bigint`;

interface Options {
  db: Db;
  settings: { ORGANIZATION_LOG_MEGABYTES: number; ORGANIZATION_MEGABYTES: number };
  logger: Pick<Logger, "warn" | "info">;
}

interface LogLimitWatch extends LogLimits {
  /** Reads the figures now. */
  look(): Promise<void>;
  stop(): Promise<void>;
}

const describeEvents = (megabytes: number): string =>
  `The events of the organization take more than ${megabytes} MB, so no new work is accepted. Events stay when ` +
  "things are deleted: ask an operator to raise ORGANIZATION_LOG_MEGABYTES.";
const describeValues = (megabytes: number): string =>
  `The arguments and results of the organization's runs take more than ${megabytes} MB, so no new work is accepted until ` +
  "some are destroyed: set a retention rule for runs, or ask an operator to raise ORGANIZATION_MEGABYTES.";

/** Watches which organizations are over the limit of their events, or whose runs keep more values than they may store. While it cannot look, the last figures hold. */
export function watchLogLimits({ db, settings, logger }: Options): LogLimitWatch {
  const { ORGANIZATION_LOG_MEGABYTES: events, ORGANIZATION_MEGABYTES: values } = settings;
  const refuse = (message: string) => ({ code: "storage_limit_reached" as const, message });
  const refusals = { events: refuse(describeEvents(events)), values: refuse(describeValues(values)) };
  let over: ReadonlyMap<string, keyof typeof refusals> = new Map();

  const look = async (): Promise<void> => {
    const rows = await db.query<{ id: string; by_events: boolean }>(OVER, [events * MEGABYTE, values * MEGABYTE]);
    const next = new Map(rows.map(({ id, by_events }) => [id, by_events ? ("events" as const) : ("values" as const)]));
    for (const [organization_id, limited] of next)
      if (!over.has(organization_id))
        logger.warn({ organization_id, limited }, "new work of an organization is refused");
    for (const organization_id of over.keys())
      if (!next.has(organization_id)) logger.info({ organization_id }, "new work of an organization is accepted again");
    over = next;
  };

  const stopped = new AbortController();
  const onError = (err: unknown): void => logger.warn({ err }, "organizations over their limits not read, retrying");
  const watching = runPeriodically(EVERY_MS, look, onError, stopped.signal);
  return {
    refusal(organization) {
      const limited = over.get(organization);
      return limited && refusals[limited];
    },
    countReached: () => over.size,
    look,
    async stop() {
      stopped.abort();
      await watching;
    },
  };
}
