import type { StreamHead } from "#events/ports.ts";
import type { CommittedCommand } from "./handle.ts";
import { createCapacity, type CapacityLimits } from "./sharing/capacity.ts";

/* Turns, readings and runs belong to a worker whose heartbeat is fresh (ADR 2). This is the part that all three share. */

/** Identifies a piece of work. `key` names its attempt, so that a process holds each attempt once. */
export interface Lease {
  key: string;
  stream: string;
  organization_id: string;
}

/** Starts work here; undefined when it is held already, or the process stops. */
export type StartWork<Work> = (work: Work) => { ended: Promise<void> } | undefined;

/** Open work without a living worker, or overdue. */
export interface LostWork<Work> {
  key: string;
  /** The worker on record. */
  worker: string | null;
  /** False for work that ends here and now: a full process does that too. */
  needsRoom: boolean;
  /** Takes the lease over and starts the work, unless the commit starts it (`leasedBy`); or ends the work. */
  takeOver(start: StartWork<Work>): Promise<unknown>;
}

export interface LeasedWorkOptions<Work, Running extends { ended: Promise<void> }> {
  /** This process. */
  worker: string;
  /** Work that this process may hold. More stays without a worker, until a sweep finds a process with room. */
  limits: CapacityLimits;
  /** Takeovers stop here, so that lost work goes to processes with less to do. Default: the limits alone. */
  maxHeldForTakeover?: number;
  lease(work: Work): Lease;
  /** Work that a commit opened or took over, and the worker that it names. */
  leasedBy(handled: CommittedCommand): { worker: string | null; work: Work }[];
  /** Work that a head from the sweep stands for; undefined when nothing is open, or `isHeld` says that it runs here. */
  open(head: StreamHead, isHeld: (key: string) => boolean): Promise<LostWork<Work> | undefined>;
  /** Runs the work until it ends or is left to another worker. `stopping` aborts when the process stops. */
  start(work: Work, stopping: AbortSignal): Running;
  onError(error: unknown, work: Work): void;
}

/** The work in progress: each attempt once, and counted against the limits. */
function createHoldings<Work, Running extends { ended: Promise<void> }>(options: LeasedWorkOptions<Work, Running>) {
  const held = new Map<string, { stream: string; running: Running; ended: Promise<void> }>();
  const capacity = createCapacity(options.limits);
  const stopping = new AbortController();
  return {
    size: (): number => held.size,
    has: (key: string): boolean => held.has(key),
    get: (key: string): Running | undefined => held.get(key)?.running,
    streams: (): string[] => [...held.values()].map(({ stream }) => stream),
    hasRoom: (organization: string): boolean => !stopping.signal.aborted && capacity.hasRoom(organization),
    stop: (): void => stopping.abort(),
    idle: async (): Promise<void> => void (await Promise.all(held.values().map(({ ended }) => ended))),
    start({ key, stream, organization_id }: Lease, work: Work): Running | undefined {
      if (stopping.signal.aborted || held.has(key)) return undefined;
      capacity.take(organization_id);
      const running = options.start(work, stopping.signal);
      const ended = running.ended
        .catch((error: unknown) => options.onError(error, work))
        .finally(() => {
          held.delete(key);
          capacity.release(organization_id);
        });
      held.set(key, { stream, running, ended });
      return running;
    },
  };
}

/** The work that this process holds: starts it after the commit that gives it the lease, and takes over what others lost. */
export function createLeasedWork<Work, Running extends { ended: Promise<void> }>(
  options: LeasedWorkOptions<Work, Running>,
) {
  const { worker, maxHeldForTakeover = Infinity } = options;
  const holdings = createHoldings(options);
  /** Work on record as this process's, which it does not hold: seen by one sweep so far. */
  const suspects = new Set<string>();

  /** Undefined when the work is held already, or the process stops. */
  function start(work: Work): Running | undefined {
    const lease = options.lease(work);
    suspects.delete(lease.key);
    return holdings.start(lease, work);
  }

  return {
    start,
    hasRoom: holdings.hasRoom,
    get: holdings.get,
    /** Streams with work held here. */
    busy: holdings.streams,
    /** Resolves when all work that is held now has ended. */
    idle: holdings.idle,

    /** Starts the work that a commit of this process gave to it. */
    afterCommit(handled: CommittedCommand): void {
      for (const leased of options.leasedBy(handled)) if (leased.worker === worker) start(leased.work);
    },

    /** Makes sure that open work moves: takes it over if there is room, or ends it. */
    async attend(head: StreamHead): Promise<void> {
      const lost = await options.open(head, holdings.has);
      if (!lost) return;
      const hasRoom = holdings.size() < maxHeldForTakeover && holdings.hasRoom(head.organization_id);
      if (lost.needsRoom && !hasRoom) return;
      // The sweep can see a row before its commit is answered here: act when a second sweep sees it too.
      if (lost.worker === worker && !suspects.delete(lost.key)) return void suspects.add(lost.key);
      await lost.takeOver(start);
    },

    /** Starts nothing more and aborts `stopping`; resolves when the work held here has ended. Other workers take over the rest. */
    async stop(): Promise<void> {
      holdings.stop();
      await holdings.idle();
    },
  };
}
