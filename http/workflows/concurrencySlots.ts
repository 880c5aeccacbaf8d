import { currentTime } from "#events/clock.ts";
import { slotClaim, slotNames, startClaim, nameAllowedStarts, type StartableWorkflow } from "#events/newRun.ts";
import type { Http } from "../base/deps.ts";

type Needs = Pick<Http, "log" | "keyring">;

/** Picks a random name that no run holds now. Another run may still claim it first. Undefined if all are taken. */
async function pickFree({ log }: Needs, names: string[], claimOf: (name: string) => string) {
  const holders = await log.claimHolders(names.map(claimOf));
  const free = names.filter((name) => !holders.has(claimOf(name)));
  return free[Math.floor(Math.random() * free.length)];
}

/** Picks a free concurrency slot; null if the workflow has no concurrency limit, undefined if all slots are taken. */
export async function pickSlot(http: Needs, workflow: StartableWorkflow, args: Record<string, unknown>) {
  const { concurrency } = workflow.envelope;
  if (!concurrency) return null;
  return pickFree(http, slotNames(http.keyring.keyedHash, workflow, concurrency, args), slotClaim);
}

/** Picks a free start of the current period; null if the workflow has no rate limit, undefined if all are taken. */
export async function pickStart(http: Needs, workflow: StartableWorkflow, args: Record<string, unknown>) {
  const { start_rate } = workflow.envelope;
  if (!start_rate) return null;
  return pickFree(
    http,
    nameAllowedStarts(http.keyring.keyedHash, workflow, start_rate, args, currentTime()),
    startClaim,
  );
}
