import { setTimeout as sleep } from "node:timers/promises";
import { isUuid, parseStreamName } from "#events/ids.ts";
import { chainClaim } from "#events/runLinks.ts";
import type { RunRow } from "#projections/runs/query.ts";
import type { Http } from "../base/deps.ts";
import { findRun } from "./lookups.ts";

/** Interval of looking for a chain's next run. It starts within milliseconds, or by the sweep after a crash. */
const RETRY_MS = 100;
const MAX_TRIES = 50;

type Needs = Pick<Http, "db" | "waitUntilCurrent" | "log">;

/** The run that continues the chain of this first run, which may have been destroyed. Undefined if there is none. */
export async function findRunOfChain(http: Needs, organization_id: string, first: string): Promise<RunRow | undefined> {
  if (!isUuid(first)) return undefined;
  const claim = chainClaim(first.toLowerCase());
  const stream = (await http.log.claimHolders([claim])).get(claim);
  return stream ? findRun(http, organization_id, parseStreamName(stream).id) : undefined;
}

/** The newest run in the chain of continuations. Returns a `continued` run while its successor is about to start. */
export const findNewestRun = async (http: Needs, row: RunRow): Promise<RunRow> =>
  row.status === "continued" ? ((await findRunOfChain(http, row.organization_id, row.first_run_id!)) ?? row) : row;

/** Applies `act` to the newest run of a chain. `act` returns undefined if the run has been continued meanwhile. */
export async function actOnNewestRun<T>(
  http: Needs,
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
