import { slotClaim, slotNames } from "#events/newRun.ts";
import type { Envelope } from "#events/workflow.ts";
import type { Http } from "../base/deps.ts";

/** Slots that no live run holds now. Another run may claim one of them before this one does. */
export async function findFreeSlots(
  http: Pick<Http, "log" | "keyring">,
  workflow: { id: string; organization_id: string },
  concurrency: NonNullable<Envelope["concurrency"]>,
  args: Record<string, unknown>,
): Promise<string[]> {
  const slots = slotNames(http.keyring.keyedHash, workflow, concurrency, args);
  const holders = await http.log.claimHolders(slots.map(slotClaim));
  return slots.filter((slot) => !holders.has(slotClaim(slot)));
}
