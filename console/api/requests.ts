import { queryOptions } from "@tanstack/react-query";
import { call, itemPath, queryOne } from "./call.ts";
import type { Trace } from "./trace.ts";
import type { Slice, TurnStatus, TurnSummary } from "./types.ts";

/* Queries about requests to models. They change with the threads they are part of. */

const REQUESTS_PER_PAGE = 50;
/** More new requests than these are counted as "100+". */
export const MAX_COUNTED_REQUESTS = 100;

export interface RequestFilter {
  status?: TurnStatus | undefined;
  principal?: string | undefined;
  model?: string | undefined;
  agent?: string | undefined;
  /** A conversation. */
  thread?: string | undefined;
  /** An external user, as requests with an API key name it. */
  user?: string | undefined;
  /** Text of the error. */
  q?: string | undefined;
  /** Words of the question. */
  question?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

const queryOf = ({ agent, thread, ...filter }: RequestFilter) => ({ ...filter, agent_id: agent, thread_id: thread });

/** One page, newest first. */
export const listRequests = (filter: RequestFilter, after: string | undefined) =>
  queryOptions({
    queryKey: ["thread", "requests", filter, after],
    queryFn: queryOne<Slice<TurnSummary>>("turns", { ...queryOf(filter), after, limit: REQUESTS_PER_PAGE }),
    placeholderData: (previous) => previous,
  });

/** The number of requests that started since then. */
export const countNewRequests = (filter: RequestFilter, from: string) =>
  queryOptions({
    queryKey: ["thread", "requests", "count", filter, from],
    queryFn: async ({ signal }) => {
      const query = { ...queryOf(filter), from, limit: MAX_COUNTED_REQUESTS };
      return (await call<Slice<TurnSummary>>("turns", { signal, query })).data.length;
    },
  });

/** `as_of`: the cursor of an event; undefined means now. */
export const getTrace = (id: string, as_of?: string) =>
  queryOptions({
    queryKey: ["thread", "trace", id, as_of],
    queryFn: queryOne<Trace>(`${itemPath("turns", id)}/trace`, { as_of }),
  });

/** Read at every mount, because only administrators receive changes of the models. */
export const listModels = queryOptions({
  queryKey: ["provider", "models"],
  refetchOnMount: "always",
  queryFn: queryOne<{ data: { id: string }[] }>("openai/v1/models"),
});
