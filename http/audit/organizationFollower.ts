import { setTimeout as sleep } from "node:timers/promises";
import type { AuditedEvent } from "#events/auditLog.ts";
import { measureJson } from "#events/largeJson.ts";
import type { Http } from "../base/deps.ts";

/** Interval of reading the log without a hint. Hints only speed this up, and may be missed. */
const POLL_MS = 1_000;
/** Minimum interval between reads, because hundreds of commits per second may each give a hint. */
const PAUSE_MS = 50;
/** Events per read. */
export const BATCH_SIZE = 200;
/** Stored bytes of these events together. */
const MAX_READ_BYTES = 1024 * 1024;
/** Maximum events that wait for one reader. Beyond it, the reader must catch up from the log itself. */
const MAX_WAITING = 1_000;
/** Maximum UTF-16 units of these events. An event may have a quarter of a million. */
const MAX_WAITING_UNITS = 4 * 1024 * 1024;

type Needs = Pick<Http, "log" | "readAuditSlice" | "onCommitted">;

/** New events of an organization, for one reader. */
interface Inbox {
  /** The next events; undefined if the reader has fallen behind, or if `signal` aborts. */
  next(signal: AbortSignal): Promise<AuditedEvent[] | undefined>;
  close(): void;
}

export interface OrganizationFollower {
  /** The position up to which events were read and delivered. */
  position(): number;
  openInbox(): Inbox;
  release(): void;
}

/** Resolves at the next commit, after POLL_MS, or when `signal` aborts. */
export function waitForCommit(onCommitted: Http["onCommitted"], signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      unsubscribe();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, POLL_MS);
    const unsubscribe = onCommitted(done);
    signal.addEventListener("abort", done);
    if (signal.aborted) done();
  });
}

/** Adds events to an inbox. `units`: UTF-16 units of their JSON. */
type Add = (events: AuditedEvent[], units: number) => void;

const countUnits = (events: AuditedEvent[]): number =>
  events.reduce((sum, { data, personal }) => sum + measureJson([data, personal], MAX_WAITING_UNITS), 0);

/** Creates an inbox, with the functions by which the follower fills it. */
function createInbox(onClose: () => void) {
  let waiting: AuditedEvent[] = [];
  let units = 0;
  let isBehind = false;
  let wake = (): void => {};
  const inbox: Inbox = {
    async next(signal) {
      while (waiting.length === 0 && !isBehind && !signal.aborted)
        await new Promise<void>((resolve) => {
          wake = () => {
            signal.removeEventListener("abort", wake);
            resolve();
          };
          signal.addEventListener("abort", wake);
        });
      if (isBehind || signal.aborted) return undefined;
      units = 0;
      return waiting.splice(0);
    },
    close: onClose,
  };
  const add: Add = (events, added) => {
    units += added;
    isBehind ||= waiting.length + events.length > MAX_WAITING || units > MAX_WAITING_UNITS;
    waiting = isBehind ? [] : [...waiting, ...events];
    wake();
  };
  return { inbox, add };
}

/** Reads an organization's new events from `start` on, once for all its readers, until `signal` aborts. */
function follow({ readAuditSlice, onCommitted }: Needs, organization: string, start: number, signal: AbortSignal) {
  const inboxes = new Set<Add>();
  let position = start;
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      const query = { after: position, limit: BATCH_SIZE, bytes: MAX_READ_BYTES };
      // a failed read is repeated after the next wait
      const { events, more } = await readAuditSlice(organization, query).catch(() => ({ events: [], more: false }));
      position = events.at(-1)?.position ?? position;
      const units = countUnits(events);
      if (events.length > 0) for (const add of inboxes) add(events, units);
      if (!more) await waitForCommit(onCommitted, signal);
      await sleep(PAUSE_MS);
    }
  };
  void run();
  return {
    position: () => position,
    openInbox(): Inbox {
      const { inbox, add } = createInbox(() => inboxes.delete(add));
      inboxes.add(add);
      return inbox;
    },
  };
}

/**
 * One follower of the log per organization with readers, so that a hundred readers cost as many queries as one. It stops with its
 * last reader.
 */
export function createOrganizationFollowers(needs: Needs) {
  interface SharedFollower {
    readers: number;
    stop: AbortController;
    opened: Promise<ReturnType<typeof follow>>;
  }
  const shared = new Map<string, SharedFollower>();

  function open(organization: string): SharedFollower {
    const stop = new AbortController();
    const opened = (async () => follow(needs, organization, (await needs.log.newestPosition()) ?? 0, stop.signal))();
    return { readers: 0, stop, opened };
  }

  return async (organization: string): Promise<OrganizationFollower> => {
    const found = shared.get(organization) ?? open(organization);
    shared.set(organization, found);
    found.readers += 1;
    const release = () => {
      found.readers -= 1;
      if (found.readers > 0) return;
      found.stop.abort();
      if (shared.get(organization) === found) shared.delete(organization);
    };
    try {
      return { ...(await found.opened), release };
    } catch (error) {
      release();
      throw error;
    }
  };
}
