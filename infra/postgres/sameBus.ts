import type { Logger } from "pino";
import type { Gate } from "#events/ports.ts";
import type { Db } from "#projections/projection.ts";
import { createGate } from "./gate.ts";
import { repeat } from "./repeat.ts";

const EVERY_MS = 2_000;
/** A process that has reported nothing for this time counts as gone, and its NATS no longer counts. */
const GONE = "15 seconds";
/** By this time the other processes have reported which bus they use now. */
const SETTLED = "6 seconds";
/** Looks that must agree: one may see what another process reported before it noticed that its bus is gone. */
const CONFIRMATIONS = 2;

/** Says which bus this process uses; the first bus that any process names is the deployment's. */
const SAY = `
  with said as (update ops.workers set bus = $2::text, bus_at = clock_timestamp() where worker = $1 returning bus_at),
  first as (insert into ops.bus (bus) select $2::text where $2::text is not null on conflict do nothing)
  select bus_at as now from said`;

/** What others have said since this process learned of its bus. */
const LOOK = `
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
  /** When a process last said that it uses the deployment's bus, or another one than this process. */
  holder_at: Date | null;
  other_at: Date | null;
}

interface Options {
  db: Db;
  worker: string;
  logger: Logger;
  /** Which bus this process is connected to; undefined if it does not know at the moment. */
  identify(): Promise<string | undefined>;
  /** Called when two processes turn out to use different ones. */
  onApart(): void;
  every_ms?: number;
}

export type SameBus = Gate & { stop(): Promise<void> };

/** Counts looks in a row that saw something newer than the one before. */
function countSightings() {
  let [last, sightings] = [0, 0];
  return {
    reset: () => void ([last, sightings] = [0, 0]),
    /** Whether it is confirmed. Without anything newer, what was confirmed stays so. */
    see(at: Date | null): boolean {
      if (!at) sightings = 0;
      else if (at.getTime() > last) sightings += 1;
      last = at?.getTime() ?? 0;
      return sightings >= CONFIRMATIONS;
    },
  };
}

/**
 * Compares the bus of this process with the one of the others that use the same database. The gate is closed while they use another
 * one: a command that this process sent would reach no other process, and subscribers of the feed would miss what it publishes. When
 * none of the others is left, or all of them changed too, the deployment's bus is the one of this process.
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
    const [said] = await db.query<{ now: Date }>(SAY, [worker, bus ?? null]);
    if (bus === undefined || !said) return;
    if (known?.bus !== bus) {
      known = { bus, since: said.now };
      [holders, others].forEach(({ reset }) => reset());
    }
    const [look] = await db.query<Look>(LOOK, [worker, bus, known.since]);
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

  const watching = repeat(every_ms, compare, (err) => logger.debug({ err }, "NATS not compared"), stopped.signal);
  return {
    ...gate,
    async stop() {
      stopped.abort();
      await watching;
    },
  };
}
