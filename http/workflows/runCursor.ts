import { isUuid } from "#events/ids.ts";
import type { RunPosition } from "#projections/runs/query.ts";
import { ApiError } from "../base/errors.ts";

/* Cursors of requests that work through runs, newest first. */

export const formatCursor = ({ created_at, id }: RunPosition): string => `${created_at.toISOString()}_${id}`;

/** Throws 400 `invalid_cursor`. */
export function readCursor(cursor: string | null | undefined): RunPosition | null {
  if (cursor === null || cursor === undefined) return null;
  const [time = "", id = ""] = cursor.split("_");
  const created_at = new Date(time);
  if (isUuid(id) && !Number.isNaN(created_at.getTime())) return { created_at, id };
  throw new ApiError("invalid_cursor", "cursor: must be the next_cursor of an earlier answer.", { param: "cursor" });
}
