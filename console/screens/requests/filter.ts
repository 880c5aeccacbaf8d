import type { RequestFilter } from "../../api/requests.ts";
import type { TurnStatus } from "../../api/types.ts";

/** What the address says. Days are those of the person's own time zone, both included. */
export interface RequestSearch {
  status?: TurnStatus | undefined;
  who?: string | undefined;
  model?: string | undefined;
  agent?: string | undefined;
  q?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  /** The page, as the service named it. */
  after?: string | undefined;
}

const DAY = /^\d{4}-\d\d-\d\d$/;

/** The first moment of a day, or of the day after it. Undefined for anything that is no day. */
function startOf(day: string | undefined, later = 0): string | undefined {
  if (!day || !DAY.test(day)) return undefined;
  const date = new Date(`${day}T00:00:00`);
  date.setDate(date.getDate() + later);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** `until` keeps rows in place while new requests start. */
export function toFilter({ status, who, model, agent, q, from, to }: RequestSearch, until: string): RequestFilter {
  const end = startOf(to, 1);
  return {
    status,
    principal: who,
    model,
    agent,
    q,
    from: startOf(from),
    to: end && end < until ? end : until,
  };
}
