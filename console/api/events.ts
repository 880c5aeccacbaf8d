import { queryOptions } from "@tanstack/react-query";
import type { EventFields } from "../format/describeEvent.ts";
import { address, call, queryOne } from "./call.ts";
import type { Slice } from "./types.ts";

/* The log of the organization, for administrators. */

export interface LogEvent extends EventFields {
  cursor: string;
  stream: string;
  version: number;
  recorded_at: string;
  principal: string;
  request_id: string;
  trace_id: string | null;
  command_id: string;
  erased: boolean;
  sealed_hash: string | null;
}

export interface EventFilter {
  /** `<aggregate>-<id>`. */
  stream?: string | undefined;
  type?: string | undefined;
  /** The actor: `person:<id>`, `key:<id>`, `webhook:<id>` or `link:<id>`. */
  who?: string | undefined;
  /** The id of the command that committed the events. */
  command?: string | undefined;
}

/** The filter as query parameters of the service. */
const queryOf = ({ stream, type, who, command }: EventFilter) => ({ stream, type, principal: who, command });

export const EVENTS_PER_PAGE = 100;
/** More new events than these are counted as "100+". */
export const MAX_COUNTED_EVENTS = 100;

/** One page, newest first. With `until`, the page stays the same even if it is read again later. */
export const listEvents = (filter: EventFilter, after: string | undefined, until: string | undefined) =>
  queryOptions({
    // an older page never changes
    queryKey: [until === undefined ? "log" : "events", "list", queryOf(filter), after, after ? undefined : until],
    staleTime: ({ state }: { state: { data?: unknown } }) =>
      until !== undefined && state.data ? "static" : Number.POSITIVE_INFINITY,
    queryFn: queryOne<Slice<LogEvent>>("events", {
      ...queryOf(filter),
      after,
      order: "newest",
      limit: EVENTS_PER_PAGE,
    }),
    placeholderData: (previous) => previous,
  });

/** The number of events after a position. */
export const countNewEvents = (filter: EventFilter, after: string | undefined) =>
  queryOptions({
    queryKey: ["log", "count", queryOf(filter), after],
    queryFn: async ({ signal }) => {
      const query = { ...queryOf(filter), after, limit: MAX_COUNTED_EVENTS };
      return (await call<Slice<LogEvent>>("events", { signal, query })).data.length;
    },
  });

/** The download address of all matching events, one JSON object per line. */
export const exportAddress = (filter: EventFilter): string =>
  address("events", { ...queryOf(filter), format: "jsonl" }).href;

/** Minimum time between two reads of the sums, however many events happen. */
const HISTOGRAM_MS = 30_000;

export interface Histogram {
  bar_seconds: number;
  /** False if older events are not counted. */
  complete: boolean;
  /** Bars with events, oldest first. `before`: a cursor for the newest event of the bar. */
  data: { at: string; count: number; before: string }[];
}
export const readHistogram = (filter: EventFilter) =>
  queryOptions({
    queryKey: ["events", "histogram", queryOf(filter)],
    queryFn: queryOne<Histogram>("events/histogram", queryOf(filter)),
    refetchInterval: HISTOGRAM_MS,
    placeholderData: (previous) => previous,
  });

export interface EventCheck {
  checked: number;
  /** The digest of each event, as in the log. */
  digests: string[];
  broken: { cursor: string; stream: string; version: number; type: string; problem: string } | null;
  next_after: string | null;
}
/** Checks the next events of the chain. */
export const checkEvents = (after: string | null, up_to: string | undefined, signal: AbortSignal) =>
  call<EventCheck>("events/check", { signal, query: { after: after ?? undefined, up_to } });
