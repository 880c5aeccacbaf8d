import type { Logger } from "pino";
import type { LogLimits } from "#events/logLimits.ts";
import type { Db } from "#projections/projection.ts";
import { runPeriodically } from "./runPeriodically.ts";

const EVERY_MS = 5_000;
const MEGABYTE = 1_000_000;
/** Of the limit of events: what is allowed beyond the limit ends when they take this many times as much. */
const FINAL = 1.1;
const OVER = `
  select organization_id as id,
    case when bytes > $3::bigint then 'final' when bytes > $1::bigint then 'events' else 'values' end as limited
  from ops.log_bytes where bytes > $1::bigint or value_bytes > $2::bigint`;

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
const describeFinal = (megabytes: number): string =>
  `The events of the organization take 10 % more than ${megabytes} MB, so it can only read, delete, cancel, disable and ` +
  "sign in now and then. Events stay when things are deleted: ask an operator to raise ORGANIZATION_LOG_MEGABYTES.";

/** Watches which organizations are over the limit of their events, or whose runs keep more values than they may store. While it cannot look, the last figures hold. */
export function watchLogLimits({ db, settings, logger }: Options): LogLimitWatch {
  const { ORGANIZATION_LOG_MEGABYTES: events, ORGANIZATION_MEGABYTES: values } = settings;
  const refuse = (message: string) => ({ code: "storage_limit_reached" as const, message });
  const final = refuse(describeFinal(events));
  const refusals = { events: refuse(describeEvents(events)), values: refuse(describeValues(values)), final };
  let over: ReadonlyMap<string, keyof typeof refusals> = new Map();

  const look = async (): Promise<void> => {
    const limits = [events * MEGABYTE, values * MEGABYTE, Math.round(events * MEGABYTE * FINAL)];
    const rows = await db.query<{ id: string; limited: keyof typeof refusals }>(OVER, limits);
    const next = new Map(rows.map(({ id, limited }) => [id, limited]));
    for (const [organization_id, limited] of next)
      if (over.get(organization_id) !== limited)
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
    finalRefusal: (organization) => (over.get(organization) === "final" ? final : undefined),
    countReached: () => over.size,
    look,
    async stop() {
      stopped.abort();
      await watching;
    },
  };
}
