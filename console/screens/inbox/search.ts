import type { ApprovalOrder, ApprovalStatus } from "../../api/types.ts";

/** The parameters in the inbox's address. */
export interface InboxSearch {
  /** Undefined means pending approvals, or with `by` all decided ones. */
  status?: ApprovalStatus | undefined;
  order?: ApprovalOrder | undefined;
  /** Counts from 0. */
  page?: number | undefined;
  /** The decider: `person:<id>` or `key:<id>`. */
  by?: string | undefined;
}

/** Whether the list contains ended approvals, which are sorted newest first. */
export const isOver = ({ status, by }: InboxSearch): boolean => by !== undefined || (status ?? "pending") !== "pending";
