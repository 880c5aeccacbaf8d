import { queryOptions } from "@tanstack/react-query";
import type { EventFields } from "../format/describeEvent.ts";
import { address, call } from "./call.ts";
import type { Slice } from "./types.ts";

/* The log of the organization, for administrators. */

/** One event of the log. */
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
  /** Who caused them: `person:<id>`, `key:<id>`, `webhook:<id>` or `link:<id>`. */
  who?: string | undefined;
  /** The id of the command that they were committed by. */
  command?: string | undefined;
}

/** The filter as the service reads it. */
const queryOf = ({ stream, type, who, command }: EventFilter) => ({ stream, type, principal: who, command });

/** Events of one page. */
export const PER_PAGE = 100;
/** More new events than these are counted as "100+". */
export const MAX_COUNTED = 100;

/** One page, newest first: the newest events of each moment, or as they were at `until`, whatever is read again meanwhile. */
export const listEvents = (filter: EventFilter, after: string | undefined, until: string | undefined) =>
  queryOptions({
    // an older page is the same at any moment
    queryKey: [until === undefined ? "log" : "events", "list", queryOf(filter), after, after ? undefined : until],
    staleTime: ({ state }: { state: { data?: unknown } }) =>
      until !== undefined && state.data ? "static" : Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) =>
      call<Slice<LogEvent>>("events", {
        signal,
        query: { ...queryOf(filter), after, order: "newest", limit: PER_PAGE },
      }),
    placeholderData: (previous) => previous,
  });

/** How many events follow one. */
export const countNewEvents = (filter: EventFilter, after: string | undefined) =>
  queryOptions({
    queryKey: ["log", "count", queryOf(filter), after],
    queryFn: async ({ signal }) => {
      const query = { ...queryOf(filter), after, limit: MAX_COUNTED };
      return (await call<Slice<LogEvent>>("events", { signal, query })).data.length;
    },
  });

/** Where all events that match can be downloaded, one JSON object per line. */
export const exportOf = (filter: EventFilter): string =>
  address("events", { ...queryOf(filter), format: "jsonl" }).href;

/** The sums are read again as often as this, however much happens. */
const HISTOGRAM_MS = 30_000;

export interface Histogram {
  bar_seconds: number;
  /** False: older events are not counted. */
  complete: boolean;
  /** Bars with events, oldest first. `before`: a cursor that leads to the newest event of the bar. */
  data: { at: string; count: number; before: string }[];
}
export const readHistogram = (filter: EventFilter) =>
  queryOptions({
    queryKey: ["events", "histogram", queryOf(filter)],
    queryFn: ({ signal }) => call<Histogram>("events/histogram", { signal, query: queryOf(filter) }),
    refetchInterval: HISTOGRAM_MS,
    placeholderData: (previous) => previous,
  });

export interface EventCheck {
  checked: number;
  /** Of each of them, as it is in the log. */
  digests: string[];
  broken: { cursor: string; stream: string; version: number; type: string; problem: string } | null;
  next_after: string | null;
}
/** Checks the next events of the chain. */
export const checkEvents = (after: string | null, up_to: string | undefined, signal: AbortSignal) =>
  call<EventCheck>("events/check", { signal, query: { after: after ?? undefined, up_to } });
