import { RunCancelled, RunCompleted, RunFailed, RunForgotten, type RunEvent } from "#events/run.ts";
import { MessageWaitStarted } from "#events/runLinks.ts";
import { createSizedCache } from "#events/sizedCache.ts";
import type { CommittedCommand } from "../handle.ts";

/* Events of runs that this process has committed a moment ago, so that what follows from them at once needs no query. */

/** Maximum age, because another process may destroy the run. */
const MAX_AGE_MS = 1_000;
/** `size`: UTF-16 units of texts in events. */
const LIMITS = { entries: 1_000, size: 4 * 1024 * 1024 };
/** Size of what has no text. */
const BASE_SIZE = 500;

export type RunEnd = Extract<RunEvent, { type: "RunCompleted" | "RunFailed" | "RunCancelled" }>;
export type WaitStart = Extract<RunEvent, { type: "MessageWaitStarted" }>;

const ENDS = new Set<string>([RunCompleted.type, RunFailed.type, RunCancelled.type]);

function createRecent<E>() {
  const recent = createSizedCache<{ event: E; at: number }>(LIMITS);
  return {
    add: (key: string, event: E, size: number, organization: string): void =>
      recent.set(key, { event, at: performance.now() }, BASE_SIZE + size, organization),
    find(key: string): E | undefined {
      const found = recent.find(key);
      return found && performance.now() - found.at <= MAX_AGE_MS ? found.event : undefined;
    },
    forget: recent.forget,
  };
}

/** The events that ended runs. */
export function createRecentEnds() {
  const ends = createRecent<RunEnd>();
  return {
    /** Adds what the commit of a run's command appended. */
    add({ command: { stream, organization_id }, events }: CommittedCommand): void {
      for (const event of events as RunEvent[])
        if (event.type === RunForgotten.type) ends.forget(stream);
        else if (ENDS.has(event.type)) ends.add(stream, event as RunEnd, sizeOfEnd(event as RunEnd), organization_id);
    },
    /** The end of the run with this stream. Undefined if the log must answer. */
    find: ends.find,
  };
}

function sizeOfEnd({ type, personal }: RunEnd): number {
  if (type !== "RunCompleted") return 0;
  return personal && "json" in personal.result ? personal.result.json.length : 0;
}

const place = (stream: string, version: number): string => `${version} ${stream}`;

/** The starts of waits for messages. */
export function createRecentWaits() {
  const waits = createRecent<WaitStart>();
  return {
    /** Adds what the commit of any command appended. */
    add({ command, events, version }: CommittedCommand): void {
      for (const [n, event] of (events as RunEvent[]).entries())
        if (event.type === MessageWaitStarted.type) {
          const size = JSON.stringify(event.personal ?? null).length;
          waits.add(place(command.stream, version - events.length + n + 1), event, size, command.organization_id);
        }
    },
    /** The event with this version. Undefined if the log must answer. */
    find: (stream: string, version: number): WaitStart | undefined => waits.find(place(stream, version)),
  };
}
