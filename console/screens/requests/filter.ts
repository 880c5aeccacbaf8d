import type { RequestFilter } from "../../api/requests.ts";
import type { TurnStatus } from "../../api/types.ts";
import { startOfDay } from "../../format/days.ts";

/** The parameters in the address. Days are in the person's time zone, both included. */
export interface RequestSearch {
  status?: TurnStatus | undefined;
  who?: string | undefined;
  model?: string | undefined;
  agent?: string | undefined;
  thread?: string | undefined;
  /** An external user, as requests with an API key name it. */
  user?: string | undefined;
  q?: string | undefined;
  /** Of the question. */
  words?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  /** The page's cursor. */
  after?: string | undefined;
  /** The request that is open beside the list. */
  peek?: string | undefined;
}

/** `until` keeps rows in place while new requests start. */
export function toFilter(
  { status, who, model, agent, thread, user, q, words, from, to }: RequestSearch,
  until: string,
): RequestFilter {
  const end = startOfDay(to, 1);
  return {
    status,
    principal: who,
    model,
    agent,
    thread,
    user,
    q,
    question: words,
    from: startOfDay(from),
    to: end && end < until ? end : until,
  };
}
