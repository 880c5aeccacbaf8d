import type { EventFilter } from "../../api/events.ts";

/** The parameters in the log's address. */
export interface LogSearch extends EventFilter {
  follow?: boolean | undefined;
  /** The page: events before this cursor. */
  after?: string | undefined;
  /** The cursor of the open event. */
  event?: string | undefined;
  /** Shows the check of the chain: of all events, or up to the event with this cursor. */
  verify?: string | undefined;
  /** The hash that the check should result in. */
  expect?: string | undefined;
}
