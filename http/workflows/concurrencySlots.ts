import { currentTime } from "#events/clock.ts";
import { slotClaim, slotNames, startClaim, startPlaces, type StartableWorkflow } from "#events/newRun.ts";
import type { Http } from "../base/deps.ts";

type Needs = Pick<Http, "log" | "keyring">;

/** One of the names at random that no run holds now; another run may claim it before this one does. Undefined when all are taken. */
async function pickFree({ log }: Needs, names: string[], claimOf: (name: string) => string) {
  const holders = await log.claimHolders(names.map(claimOf));
  const free = names.filter((name) => !holders.has(claimOf(name)));
  return free[Math.floor(Math.random() * free.length)];
}

/** A free slot; null when the workflow has no concurrency limit, undefined when all slots are taken. */
export async function pickSlot(http: Needs, workflow: StartableWorkflow, args: Record<string, unknown>) {
  const { concurrency } = workflow.envelope;
  if (!concurrency) return null;
  return pickFree(http, slotNames(http.keyring.keyedHash, workflow, concurrency, args), slotClaim);
}

/** A free start of this period; null when the workflow has no rate, undefined when all are taken. */
export async function pickStart(http: Needs, workflow: StartableWorkflow, args: Record<string, unknown>) {
  const { start_rate } = workflow.envelope;
  if (!start_rate) return null;
  return pickFree(http, startPlaces(http.keyring.keyedHash, workflow, start_rate, args, currentTime()), startClaim);
}
