import { setTimeout as sleep } from "node:timers/promises";
import { createFairSemaphore, type FairSemaphore } from "../sharing/fairSemaphore.ts";
import { WebError } from "../turns/tools/web.ts";
import type { CacheValidators, FetchedPage, FetchPage } from "./ports.ts";
import { parseRobots, type Robots } from "./robots.ts";

/** Pages that a process fetches at the same time. */
const PAGES_AT_ONCE = { total: 6, perTenant: 2 };

export interface SourceWebOptions {
  fetch: FetchPage;
  /** The robot's name in robots.txt, and its User-Agent. */
  robot: { name: string; agent: string };
  /** Milliseconds between two requests to a host. */
  delay_ms: number;
}

/** The web as one read of a source uses it. */
export interface SourceVisit {
  fetch(url: string, known?: CacheValidators): Promise<FetchedPage>;
}

const hasNoRules = (status: number | undefined): boolean => status !== undefined && status >= 400 && status < 500;

/** Reads each host's robots.txt once per read of a source. */
function createRobotsReader({ fetch, robot }: SourceWebOptions, signal: AbortSignal) {
  const byOrigin = new Map<string, Promise<Robots>>();
  const read = async (origin: string): Promise<Robots> => {
    const found = await fetch(`${origin}/robots.txt`, signal, { agent: robot.agent });
    if ("bytes" in found) return parseRobots(found.bytes.toString("utf8"), robot.name);
    if ("refusal" in found && !hasNoRules(found.status))
      throw new WebError(`The robots.txt of this address cannot be read: ${found.refusal}`);
    return parseRobots("", robot.name);
  };
  const find = (origin: string): Promise<Robots> => {
    const known = byOrigin.get(origin);
    if (known) return known;
    const reading = read(origin);
    // every caller awaits it
    reading.catch(() => {});
    byOrigin.set(origin, reading);
    return reading;
  };
  return {
    async permit(url: URL): Promise<void> {
      if (!(await find(url.origin)).allows(url))
        throw new WebError("The robots.txt of this address forbids to read it.");
    },
    delay: (origin: string): Promise<number> =>
      (byOrigin.get(origin) ?? Promise.resolve({ delay: 0 })).then(
        ({ delay }) => delay * 1_000,
        () => 0,
      ),
  };
}

/**
 * Runs one piece of work at a time per host. Organizations take turns, because one of them may have twenty sources of a host that
 * another organization reads.
 */
function createHostTurns() {
  const hosts = new Map<string, { turns: FairSemaphore; users: number }>();
  return async (host: string, organization_id: string, work: () => Promise<void>, signal: AbortSignal) => {
    const used = hosts.get(host) ?? { turns: createFairSemaphore({ total: 1, perTenant: 1 }), users: 0 };
    hosts.set(host, used);
    used.users += 1;
    try {
      await used.turns.run(organization_id, work, signal);
    } finally {
      used.users -= 1;
      if (used.users === 0) hosts.delete(host);
    }
  };
}

/** Fetches pages of sources: one at a time per host, with a pause in between. Organizations take turns. */
export function createSourceWeb(options: SourceWebOptions) {
  const takeTurn = createHostTurns();
  const semaphore = createFairSemaphore(PAGES_AT_ONCE);
  const { fetch, robot, delay_ms } = options;
  return {
    open(organization_id: string, signal: AbortSignal): SourceVisit {
      const robots = createRobotsReader(options, signal);
      const visit = (url: string, known: CacheValidators | undefined): Promise<FetchedPage> =>
        semaphore.run(
          organization_id,
          () => fetch(url, signal, { known, agent: robot.agent, permit: robots.permit }),
          signal,
        );
      return {
        fetch: (url, known) =>
          new Promise((resolve, reject) => {
            const { host, origin } = new URL(url);
            // the caller uses the page while the next request to the host waits
            const visitAndPause = async (): Promise<void> => {
              await visit(url, known).then(resolve, reject);
              const pause = Math.max(delay_ms, await robots.delay(origin));
              await sleep(pause, undefined, { signal, ref: false }).catch(() => {});
            };
            takeTurn(host, organization_id, visitAndPause, signal).catch(reject);
          }),
      };
    },
  };
}
export type SourceWeb = ReturnType<typeof createSourceWeb>;
