import { setTimeout as sleep } from "node:timers/promises";
import { parseStreamName } from "#events/ids.ts";
import { chainClaim } from "#events/runLinks.ts";
import type { RunRow } from "#projections/runs/query.ts";
import type { Http } from "../base/deps.ts";
import { findRun } from "./lookups.ts";

/** The next run of a chain is started within milliseconds; after a crash, by the sweep. */
const RETRY_MS = 100;
const MAX_TRIES = 50;

/** The run that continues this one now, or the run itself. A `continued` one is answered while the next is on its way. */
export async function findNewestRun(http: Pick<Http, "db" | "freshRead" | "log">, row: RunRow): Promise<RunRow> {
  if (row.status !== "continued") return row;
  const claim = chainClaim(row.first_run_id!);
  const stream = (await http.log.claimHolders([claim])).get(claim);
  return (stream && (await findRun(http, row.organization_id, parseStreamName(stream).id))) || row;
}

/** Does something to the newest run of a chain. `act` returns undefined when another run has gone on for it meanwhile. */
export async function withNewestRun<T>(
  http: Pick<Http, "db" | "freshRead" | "log">,
  row: RunRow,
  act: (newest: RunRow) => Promise<T | undefined>,
): Promise<T | undefined> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const newest = await findNewestRun(http, row);
    const done = newest.status === "continued" ? undefined : await act(newest);
    if (done !== undefined) return done;
    await sleep(RETRY_MS);
    row = (await findRun(http, row.organization_id, row.id)) ?? row;
  }
  return undefined;
}
