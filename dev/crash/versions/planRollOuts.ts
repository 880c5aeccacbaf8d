import type { Fault } from "../faults/plan.ts";
import { olderOf, rollOutOrder, type VersionName } from "./versions.ts";

/** Plans a roll-out to the newer version, and back to the older one. */
export function planRollOuts(beside: string): Fault[] {
  const older = olderOf(beside);
  const newer: VersionName = older === "this" ? "other" : "this";
  return [
    ...rollOutOrder(beside, newer).map((role): Fault => ({ what: "version", role, to: newer })),
    ...rollOutOrder(beside, older).map((role): Fault => ({ what: "version", role, to: older })),
  ];
}
