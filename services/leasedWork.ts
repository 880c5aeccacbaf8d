import type { StreamHead } from "#events/ports.ts";
import type { CommittedCommand } from "./handle.ts";
import { createCapacity, type CapacityLimits } from "./sharing/capacity.ts";

/* Turns, readings and runs are leased to a worker with a fresh heartbeat (ADR 2). This is their shared part. */

/** Identifies a piece of work. `key` names its attempt, so that a process holds each attempt only once. */
export interface WorkIdentity {
  key: string;
  stream: string;
  organization_id: string;
}

/** Starts work in this process; undefined if it is already held, or the process is stopping. */
export type StartWork<Work> = (work: Work) => { ended: Promise<void> } | undefined;

/** Open work that is overdue or has no live worker. */
export interface LostWork<Work> {
  key: string;
  /** The worker on record. */
  worker: string | null;
  /** False if taking over only ends the work, which a full process can do, too. */
  needsRoom: boolean;
  /** Takes over the lease and starts the work, or ends it. With `leasedBy`, the commit starts the work. */
  takeOver(start: StartWork<Work>): Promise<unknown>;
}

export interface LeasedWorkOptions<Work, Running extends { ended: Promise<void> }> {
  /** This process. */
  worker: string;
  /** Maximum work held by this process. More stays without a worker until a sweep finds a process with room. */
  limits: CapacityLimits;
  /** At this many held, takeovers stop, so that lost work goes to processes with less to do. Default: only the limits apply. */
  maxHeldForTakeover?: number;
  /** Whether an organization's share of something else than `limits` allows more work. Default: it does. */
  hasShare?(organization: string): boolean;
  identify(work: Work): WorkIdentity;
  /** Work that a commit opened or took over, and the worker it names. */
  leasedBy(handled: CommittedCommand): { worker: string | null; work: Work }[];
  /** The open work that a head row found by the sweep describes; undefined when nothing is open, or `isHeld` says that it runs here. */
  open(head: StreamHead, isHeld: (key: string) => boolean): Promise<LostWork<Work> | undefined>;
  /** Runs the work until it ends or is left to another worker. `stopping` aborts when the process stops. */
  start(work: Work, stopping: AbortSignal): Running;
  onError(error: unknown, work: Work): void;
}

/** The work in progress: holds each attempt once and counts it against the limits. */
function createHoldings<Work, Running extends { ended: Promise<void> }>(options: LeasedWorkOptions<Work, Running>) {
  const held = new Map<string, { stream: string; running: Running; ended: Promise<void> }>();
  const capacity = createCapacity(options.limits);
  const stopping = new AbortController();
  return {
    size: (): number => held.size,
    has: (key: string): boolean => held.has(key),
    get: (key: string): Running | undefined => held.get(key)?.running,
    streams: (): string[] => [...held.values()].map(({ stream }) => stream),
    hasRoom: (organization: string): boolean =>
      !stopping.signal.aborted && capacity.hasRoom(organization) && (options.hasShare?.(organization) ?? true),
    stop: (): void => stopping.abort(),
    idle: async (): Promise<void> => void (await Promise.all(held.values().map(({ ended }) => ended))),
    start({ key, stream, organization_id }: WorkIdentity, work: Work): Running | undefined {
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

/** The leased work of this process: starts it after the commit that gives it the lease, and takes over what others lost. */
export function createLeasedWork<Work, Running extends { ended: Promise<void> }>(
  options: LeasedWorkOptions<Work, Running>,
) {
  const { worker, maxHeldForTakeover = Infinity } = options;
  const holdings = createHoldings(options);
  /** Work recorded as held by this process that it does not hold, after one sweep has seen it. */
  const suspects = new Set<string>();

  /** Undefined when the work is already held, or the process is stopping. */
  function start(work: Work): Running | undefined {
    const identity = options.identify(work);
    suspects.delete(identity.key);
    return holdings.start(identity, work);
  }

  return {
    start,
    hasRoom: holdings.hasRoom,
    get: holdings.get,
    /** Streams with work held by this process. */
    busy: holdings.streams,
    /** Resolves when all work held at the time of the call has ended. */
    idle: holdings.idle,

    /** Starts the work that a commit gave to this process. */
    afterCommit(handled: CommittedCommand): void {
      for (const leased of options.leasedBy(handled)) if (leased.worker === worker) start(leased.work);
    },

    /** Makes sure that open work progresses: takes it over if there is room, or ends it. */
    async resumeWork(head: StreamHead): Promise<void> {
      const lost = await options.open(head, holdings.has);
      if (!lost) return;
      const hasRoom = holdings.size() < maxHeldForTakeover && holdings.hasRoom(head.organization_id);
      if (lost.needsRoom && !hasRoom) return;
      // The sweep can see a row before its commit is acknowledged here, so act only when a second sweep sees it, too.
      if (lost.worker === worker && !suspects.delete(lost.key)) return void suspects.add(lost.key);
      await lost.takeOver(start);
    },

    /** Starts no more work and aborts `stopping`. Resolves when the held work has ended; other workers take over the rest. */
    async stop(): Promise<void> {
      holdings.stop();
      await holdings.idle();
    },
  };
}
