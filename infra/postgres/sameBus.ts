import type { Logger } from "pino";
import type { Gate } from "#events/ports.ts";
import type { Db } from "#projections/projection.ts";
import { createGate } from "./gate.ts";
import { runPeriodically } from "./runPeriodically.ts";

const EVERY_MS = 2_000;
/** After this silence a process counts as gone, and its bus no longer counts. */
const GONE = "15 seconds";
/** Time within which other processes report which bus they use. */
const SETTLED = "6 seconds";
/** Consecutive looks that must agree, because one may show a process's report from before it noticed that its bus was gone. */
const CONFIRMATIONS = 2;

/** Reports which bus this process uses. The first one reported by any process is the deployment's. */
const REPORT = `
  with reported as (update ops.workers set bus = $2::text, bus_at = clock_timestamp() where worker = $1 returning bus_at),
  first as (insert into ops.bus (bus) select $2::text where $2::text is not null on conflict do nothing)
  select bus_at as now from reported`;

/** Reads what others have reported since this process learned of its bus. */
const READ_REPORTS = `
  select b.bus as deployment,
    $3::timestamptz < clock_timestamp() - interval '${SETTLED}' as settled,
    exists (select from ops.workers w where w.worker <> $1 and w.bus = b.bus and w.bus_at > clock_timestamp() - interval '${GONE}') as held,
    (select max(w.bus_at) from ops.workers w where w.worker <> $1 and w.bus = b.bus and w.bus_at > $3) as holder_at,
    (select max(w.bus_at) from ops.workers w where w.worker <> $1 and w.bus <> $2
       and w.bus_at > greatest($3, clock_timestamp() - interval '${GONE}')) as other_at
  from ops.bus b`;

interface Look {
  deployment: string;
  settled: boolean;
  held: boolean;
  /** When a process last reported the deployment's bus (`holder_at`), or another bus than this process's (`other_at`). */
  holder_at: Date | null;
  other_at: Date | null;
}

interface Options {
  db: Db;
  worker: string;
  logger: Logger;
  /** Identifies the bus that this process is connected to; undefined if unknown at the moment. */
  identify(): Promise<string | undefined>;
  /** Called when two processes turn out to use different buses. */
  onApart(): void;
  every_ms?: number;
}

export type SameBus = Gate & { stop(): Promise<void> };

/** Counts consecutive comparisons that each found a newer report. */
function countSightings() {
  let [last, sightings] = [0, 0];
  return {
    reset: () => void ([last, sightings] = [0, 0]),
    /** Returns whether enough reports were found. Null, no report, starts the count over; a report that is not newer changes nothing. */
    see(at: Date | null): boolean {
      if (!at) sightings = 0;
      else if (at.getTime() > last) sightings += 1;
      last = at?.getTime() ?? 0;
      return sightings >= CONFIRMATIONS;
    },
  };
}

/**
 * Compares this process's bus with that of the others on the same database. While they use another one, the gate is closed:
 * commands sent by this process would reach no other, and subscribers of the feed would miss what it publishes. If none of the
 * others is left, or all have changed too, this process's bus becomes the deployment's.
 */
export function watchSameBus({ db, worker, logger, identify, onApart, every_ms = EVERY_MS }: Options): SameBus {
  const stopped = new AbortController();
  const [holders, others] = [countSightings(), countSightings()];
  let known: { bus: string; since: Date } | undefined;
  const { set, ...gate } = createGate();
  let isApart = false;

  const setOpen = (open: boolean, fields: object): void => {
    if (!set(open)) return;
    if (open) logger.info(fields, "NATS agrees with the other processes again");
    else logger.error(fields, "NATS differs from the other processes', taking no work: compare NATS_URL");
  };

  const compare = async (): Promise<void> => {
    const bus = await identify();
    const [reported] = await db.query<{ now: Date }>(REPORT, [worker, bus ?? null]);
    if (bus === undefined || !reported) return;
    if (known?.bus !== bus) {
      known = { bus, since: reported.now };
      [holders, others].forEach(({ reset }) => reset());
    }
    const [look] = await db.query<Look>(READ_REPORTS, [worker, bus, known.since]);
    const { deployment, settled, held, holder_at, other_at } = look!;
    const apart = others.see(other_at);
    if (apart && !isApart) {
      logger.error({ bus, deployment_bus: deployment }, "another process of this database uses another NATS");
      onApart();
    }
    isApart = apart;
    if (deployment === bus) setOpen(true, { bus });
    else if (settled && !held) {
      await db.query("update ops.bus set bus = $2 where bus = $1", [deployment, bus]);
      setOpen(true, { bus });
    } else if (holders.see(holder_at)) setOpen(false, { bus, deployment_bus: deployment });
  };

  const watching = runPeriodically(
    every_ms,
    compare,
    (err) => logger.debug({ err }, "NATS not compared"),
    stopped.signal,
  );
  return {
    ...gate,
    async stop() {
      stopped.abort();
      await watching;
    },
  };
}
