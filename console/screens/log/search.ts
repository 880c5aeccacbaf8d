import type { EventFilter } from "../../api/events.ts";

/** What the address of the log says. */
export interface LogSearch extends EventFilter {
  follow?: boolean | undefined;
  /** The page: events before this cursor. */
  after?: string | undefined;
  /** The cursor of the event that is open. */
  event?: string | undefined;
  /** The chain is checked: all of it, or up to the event with this cursor. */
  verify?: string | undefined;
  /** The hash that the check shall come to. */
  expect?: string | undefined;
}
