import type { Envelope } from "#events/workflow.ts";
import type { Http } from "../base/deps.ts";

/** The value at a JSON pointer, if there is one. */
function valueAt(value: unknown, pointer: string): unknown {
  for (const part of pointer.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** A pointer is relative to the body of a start (`/args/customer`) or to the arguments. */
function readKey(args: Record<string, unknown>, pointer: string | null): unknown {
  if (pointer === null) return undefined;
  return valueAt(/^\/args(\/|$)/.test(pointer) ? { args } : args, pointer);
}

/** Names of all slots for live runs of a workflow with these arguments. Keyed hashes, so the argument does not show. */
function slotNames(
  { keyring }: Pick<Http, "keyring">,
  workflow: { id: string; organization_id: string },
  { max_runs, key }: NonNullable<Envelope["concurrency"]>,
  args: Record<string, unknown>,
): string[] {
  const group = JSON.stringify([workflow.organization_id, workflow.id, readKey(args, key) ?? null]);
  return Array.from({ length: max_runs }, (_, n) => keyring.keyedHash("run-slot", `${group}${n}`));
}

/** Slots that no live run holds now. Another run may claim one of them before this one does. */
export async function findFreeSlots(
  http: Pick<Http, "log" | "keyring">,
  workflow: { id: string; organization_id: string },
  concurrency: NonNullable<Envelope["concurrency"]>,
  args: Record<string, unknown>,
): Promise<string[]> {
  const slots = slotNames(http, workflow, concurrency, args);
  const claim = (slot: string) => `run-slot:${slot}`;
  const holders = await http.log.claimHolders(slots.map(claim));
  return slots.filter((slot) => !holders.has(claim(slot)));
}
