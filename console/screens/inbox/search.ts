import type { ApprovalOrder, ApprovalStatus } from "../../api/types.ts";

/** What the address of the inbox says. */
export interface InboxSearch {
  /** Undefined: what waits, or with `by` all that was decided. */
  status?: ApprovalStatus | undefined;
  order?: ApprovalOrder | undefined;
  /** Counts from 0. */
  page?: number | undefined;
  /** Who decided: `person:<id>` or `key:<id>`. */
  by?: string | undefined;
}

/** Whether what is shown is over: then the newest comes first. */
export const isOver = ({ status, by }: InboxSearch): boolean => by !== undefined || (status ?? "pending") !== "pending";
