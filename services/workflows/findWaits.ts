import { isDeepStrictEqual } from "node:util";
import { currentTime } from "#events/clock.ts";
import { streamName } from "#events/ids.ts";
import type { EventLog, ScannedEvent } from "#events/ports.ts";
import { MessageWaitStarted } from "#events/runLinks.ts";
import { run as runDecider } from "../deciders/run.ts";
import { acceptsMessage } from "../deciders/runLinks.ts";
import { readState } from "../states.ts";
import type { WaitStart } from "./recentRunEvents.ts";

/** Maximum waits answered by one message: the oldest ones. */
const MAX_WAITS = 10_000;
/** Waits compared with a message in one piece, in a few milliseconds. */
const WAITS_AT_ONCE = 1_000;
/** Events that are decrypted and parsed in one piece: each may have a condition of 256 KiB. */
const EVENTS_AT_ONCE = 20;
/** Page size of queries for waits, and for the status of their runs. */
const PAGE = 200;

/** A wait of a run that a message answers. */
export interface FoundWait {
  run_id: string;
  key: string;
  /** Log position of its beginning. */
  position: number;
}
/** A wait of a run for a message. */
export interface MessageWait extends FoundWait {
  match: Record<string, unknown>;
}

interface WaitQuery {
  project_id: string | null;
  name: string;
  /** Log position of the message. */
  position: number;
}

export interface WaitSources {
  log: Pick<EventLog, "scan" | "event">;
  /**
   * The waits between a log position and that of the message, oldest first, up to the position that the read model has reached
   * (`projected`); undefined while it is far behind. `more`: there are further ones.
   */
  findMessageWaits(
    organization: string,
    query: WaitQuery & { after: number; limit: number },
  ): Promise<{ waits: MessageWait[]; more: boolean; projected: number } | undefined>;
  /** The event that began a wait, if this process has committed it a moment ago. */
  findRecentWait(stream: string, version: number): WaitStart | undefined;
}

type Fits = (match: MessageWait["match"]) => boolean;

/** Whether the message's top-level fields match a wait. */
export const isMatch = (match: MessageWait["match"], data: Record<string, unknown>): boolean =>
  Object.entries(match).every(([field, value]) => Object.hasOwn(data, field) && isDeepStrictEqual(data[field], value));

/** The matching waits in the read model, compared page by page because any number of runs may wait for one name. */
async function findProjected({ findMessageWaits }: WaitSources, organization: string, query: WaitQuery, fits: Fits) {
  // without their conditions, which may be long
  const waits: FoundWait[] = [];
  let [first, last] = [undefined as number | undefined, 0];
  for (let after = 0; waits.length < MAX_WAITS; ) {
    const page = await findMessageWaits(organization, { ...query, after, limit: WAITS_AT_ONCE });
    if (!page) return undefined;
    first ??= page.projected;
    last = page.projected;
    for (const { match, ...wait } of page.waits) if (fits(match)) waits.push(wait);
    const newest = page.waits.at(-1);
    if (!page.more || !newest) break;
    after = newest.position;
  }
  return { waits, projected: { first: first!, last } };
}

/**
 * The waits that a message answers, oldest first, and how far the read model had come. Newer waits are read from the log, because
 * waiting for the read model would take longer than everything else.
 */
export async function findWaits(
  sources: WaitSources,
  organization: string,
  query: WaitQuery,
  fits: Fits,
): Promise<{ waits: FoundWait[]; projected: number } | undefined> {
  const { log, findRecentWait } = sources;
  const read = async ({ stream, version, position }: ScannedEvent) => {
    const { data, personal } = findRecentWait(stream, version) ?? ((await log.event(stream, version)) as WaitStart);
    return { data, personal, position };
  };
  const found = await findProjected(sources, organization, query, fits);
  if (!found) return undefined;
  const { projected } = found;
  // the read model may have added some of them while its pages were read
  const waits = new Map(found.waits.map((wait) => [`${wait.run_id} ${wait.key}`, wait]));
  for (let [after, isBehind] = [projected.first, projected.first < query.position]; isBehind; ) {
    const { events, seen } = await log.scan(after, [MessageWaitStarted.type], PAGE);
    const own = events.filter((one) => one.organization_id === organization && one.position < query.position);
    for (let n = 0; n < own.length; n += EVENTS_AT_ONCE) {
      const group = own.slice(n, n + EVENTS_AT_ONCE);
      for (const { data, personal, position } of await Promise.all(group.map(read))) {
        const isReached = query.project_id === null || query.project_id === data.project_id;
        const { run_id, key } = data;
        if (isReached && personal?.name === query.name && fits(personal.match))
          waits.set(`${run_id} ${key}`, { run_id, key, position });
      }
    }
    after = seen;
    isBehind = seen < query.position;
  }
  return { waits: [...waits.values()].slice(0, MAX_WAITS), projected: projected.last };
}

/** Keeps the waits that are still open according to the log: the read model lags, and a timeout may have passed without being recorded. */
export async function filterOpenWaits(log: Pick<EventLog, "heads" | "read">, waits: FoundWait[]): Promise<FoundWait[]> {
  const open: FoundWait[] = [];
  for (let n = 0; n < waits.length; n += PAGE) {
    const page = waits.slice(n, n + PAGE);
    const heads = await log.heads([...new Set(page.map(({ run_id }) => streamName("run", run_id)))]);
    for (const wait of page) {
      const head = heads.get(streamName("run", wait.run_id));
      if (head && acceptsMessage((await readState(log, head, runDecider)).state, wait.key, currentTime()))
        open.push(wait);
    }
  }
  return open;
}
