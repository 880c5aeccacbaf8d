import { isDeepStrictEqual } from "node:util";
import { currentTime } from "#events/clock.ts";
import type { EventFrom } from "#events/define.ts";
import type { RecordedEvent } from "#events/envelope.ts";
import { streamName } from "#events/ids.ts";
import type { EventLog } from "#events/ports.ts";
import { MessageWaitStarted } from "#events/runLinks.ts";
import { run as runDecider } from "../deciders/run.ts";
import { takesMessage } from "../deciders/runLinks.ts";
import { readState } from "../states.ts";

/** Waits that one message answers; those that have waited longest. */
const MAX_WAITS = 10_000;
/** Waits that are compared with a message at once, in a few milliseconds. */
const WAITS_AT_ONCE = 1_000;
/** Events of one query that looks for waits, and runs of one that looks whether they have ended. */
const PAGE = 200;

/** A wait of a run for a message. */
export interface MessageWait {
  run_id: string;
  key: string;
  match: Record<string, unknown>;
  /** Where it began in the log. */
  position: number;
}

interface WaitQuery {
  project_id: string | null;
  name: string;
  /** Of the message. */
  position: number;
}

export interface WaitSources {
  log: Pick<EventLog, "scan" | "event">;
  /**
   * The waits after a position of the log and before that of the message, oldest first, as far as the read model has followed the
   * log (`projected`); undefined while it is far behind.
   */
  findMessageWaits(
    organization: string,
    query: WaitQuery & { after: number; limit: number },
  ): Promise<{ waits: MessageWait[]; projected: number } | undefined>;
}

type Fits = (match: MessageWait["match"]) => boolean;

/** Whether the top-level fields of a message are what a wait asks for. */
export const isMatch = (match: MessageWait["match"], data: Record<string, unknown>): boolean =>
  Object.entries(match).every(([field, value]) => Object.hasOwn(data, field) && isDeepStrictEqual(data[field], value));

/** Those of the read model. Any number of runs may wait for messages of one name, so they are compared page by page. */
async function findProjected({ findMessageWaits }: WaitSources, organization: string, query: WaitQuery, fits: Fits) {
  const waits: MessageWait[] = [];
  let [first, last] = [undefined as number | undefined, 0];
  for (let after = 0; waits.length < MAX_WAITS; ) {
    const page = await findMessageWaits(organization, { ...query, after, limit: WAITS_AT_ONCE });
    if (!page) return undefined;
    first ??= page.projected;
    last = page.projected;
    for (const wait of page.waits) if (fits(wait.match)) waits.push(wait);
    if (page.waits.length < WAITS_AT_ONCE) break;
    after = page.waits.at(-1)!.position;
  }
  return { waits, projected: { first: first!, last } };
}

/**
 * The waits that a message answers, oldest first, and how far the read model had followed the log. Those that it does not have yet
 * are read from the log: waiting for it would take longer than all else.
 */
export async function findWaits(
  sources: WaitSources,
  organization: string,
  query: WaitQuery,
  fits: Fits,
): Promise<{ waits: MessageWait[]; projected: number } | undefined> {
  const { log } = sources;
  const found = await findProjected(sources, organization, query, fits);
  if (!found) return undefined;
  const { projected } = found;
  // the read model may have got some of them while its pages were read
  const waits = new Map(found.waits.map((wait) => [`${wait.run_id} ${wait.key}`, wait]));
  for (let [after, isBehind] = [projected.first, projected.first < query.position]; isBehind; ) {
    const { events, seen } = await log.scan(after, [MessageWaitStarted.type], PAGE);
    const own = events.filter((one) => one.organization_id === organization && one.position < query.position);
    const started = await Promise.all(own.map(({ stream, version }) => log.event(stream, version)));
    for (const { data, personal, position } of started as RecordedEvent<EventFrom<typeof MessageWaitStarted>>[]) {
      const isReached = query.project_id === null || query.project_id === data.project_id;
      const { run_id, key } = data;
      if (isReached && personal?.name === query.name && fits(personal.match))
        waits.set(`${run_id} ${key}`, { run_id, key, match: personal.match, position });
    }
    after = seen;
    isBehind = seen < query.position;
  }
  return { waits: [...waits.values()].slice(0, MAX_WAITS), projected: projected.last };
}

/**
 * Those of the waits that still take a message, by the log: the read model follows it later, and a timeout that is over may not be
 * recorded yet.
 */
export async function keepOpen(log: Pick<EventLog, "heads" | "read">, waits: MessageWait[]): Promise<MessageWait[]> {
  const open: MessageWait[] = [];
  for (let n = 0; n < waits.length; n += PAGE) {
    const page = waits.slice(n, n + PAGE);
    const heads = await log.heads([...new Set(page.map(({ run_id }) => streamName("run", run_id)))]);
    for (const wait of page) {
      const head = heads.get(streamName("run", wait.run_id));
      if (head && takesMessage((await readState(log, head, runDecider)).state, wait.key, currentTime()))
        open.push(wait);
    }
  }
  return open;
}
