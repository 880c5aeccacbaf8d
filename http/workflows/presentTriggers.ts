import type { z } from "zod";
import { mapInSlices } from "#events/slices.ts";
import { findSchedules } from "#projections/schedules/query.ts";
import { countRunsByTrigger, type TriggerRow } from "#projections/triggers/query.ts";
import type { Http } from "../base/deps.ts";
import { requireTrigger } from "./lookups.ts";
import { presentTrigger, type Trigger } from "./triggerShape.ts";

/** Presents triggers with data of other read models: their runs, and the state of their schedules. */
export async function presentTriggers(
  { db, waitUntilCurrent, settings }: Pick<Http, "db" | "waitUntilCurrent" | "settings">,
  rows: TriggerRow[],
): Promise<z.infer<typeof Trigger>[]> {
  await waitUntilCurrent(["runs", "workflows", "schedules"]);
  const ids = rows.map(({ id }) => id);
  const workflows = [...new Set(rows.map(({ workflow_id }) => workflow_id))];
  const [runs, schedules] = await Promise.all([countRunsByTrigger(db, workflows, ids), findSchedules(db, ids)]);
  // in slices: five times of a schedule for Mondays on the 29th of February take 5 ms
  return mapInSlices(rows, (row) =>
    presentTrigger(row, { runs: runs.get(row.id) ?? 0, base: settings.BASE_URL, schedule: schedules.get(row.id) }),
  );
}

/** Reads and presents one trigger. Throws 404 `trigger_not_found`. */
export async function readTrigger(http: Http, workflow_id: string, id: string): Promise<z.infer<typeof Trigger>> {
  const row = await requireTrigger(http, workflow_id, id);
  return (await presentTriggers(http, [row]))[0]!;
}
