import { countRows } from "../countRows.ts";
import type { Db } from "../projection.ts";

/** Counts an organization's turns that wait for the approval of a tool call. */
export const countParkedTurns = (db: Db, organization: string): Promise<number> =>
  countRows(db, "from read.turns where organization_id = $1 and parked_at is not null", [organization]);
