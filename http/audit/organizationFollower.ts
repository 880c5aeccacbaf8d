import { setTimeout as sleep } from "node:timers/promises";
import type { AuditedEvent } from "#events/auditLog.ts";
import type { Http } from "../base/deps.ts";

/** The log is read this often without a hint. Hints only make it faster, and some may be missed. */
const POLL_MS = 1_000;
/** Minimum time between two reads: commits can come by the hundred per second, and each gives a hint. */
const PAUSE_MS = 50;
/** Events that are read at once. */
export const BATCH_SIZE = 200;
/** Events that wait for one reader; with more it reads the log itself until it has caught up. */
const MAX_WAITING = 1_000;

type Needs = Pick<Http, "log" | "readAuditSlice" | "onCommitted">;

/** New events of an organization, for one reader. */
interface Inbox {
  /** The next events; undefined when the reader has fallen behind, or `signal` is aborted. */
  next(signal: AbortSignal): Promise<AuditedEvent[] | undefined>;
  close(): void;
}

export interface OrganizationFollower {
  /** The position up to which events were read and handed out. */
  position(): number;
  openInbox(): Inbox;
  release(): void;
}

/** Resolves at the next commit, after POLL_MS, or when `signal` is aborted. */
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

/** An inbox, and how the follower fills it. */
function createInbox(onClose: () => void) {
  let waiting: AuditedEvent[] = [];
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
      return waiting.splice(0);
    },
    close: onClose,
  };
  const add = (events: AuditedEvent[]): void => {
    isBehind ||= waiting.length + events.length > MAX_WAITING;
    waiting = isBehind ? [] : [...waiting, ...events];
    wake();
  };
  return { inbox, add };
}

/** Reads an organization's new events once for all its readers, from `position` until `signal` is aborted. */
function follow({ readAuditSlice, onCommitted }: Needs, organization: string, start: number, signal: AbortSignal) {
  const inboxes = new Set<(events: AuditedEvent[]) => void>();
  let position = start;
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      const query = { after: position, limit: BATCH_SIZE };
      // a failed read is repeated after the next wait
      const { events, more } = await readAuditSlice(organization, query).catch(() => ({ events: [], more: false }));
      position = events.at(-1)?.position ?? position;
      if (events.length > 0) for (const add of inboxes) add(events);
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
 * Followers of the log, one for each organization that has readers: a hundred readers cost as many queries as one. The
 * organization's last reader ends it.
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
