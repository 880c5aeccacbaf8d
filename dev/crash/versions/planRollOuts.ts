import type { Fault } from "../faults/plan.ts";
import type { RoleName } from "../faults/surroundings.ts";
import { olderOf, type VersionName } from "./versions.ts";

/** The order of docs/operating.md: who decides understands new commands before somebody sends them. */
const FORTH: RoleName[] = ["services", "projections", "http"];

/** To the newer version, and back to the older one. */
export function planRollOuts(beside: string): Fault[] {
  const older = olderOf(beside);
  const newer: VersionName = older === "this" ? "other" : "this";
  return [
    ...FORTH.map((role): Fault => ({ what: "version", role, to: newer })),
    ...FORTH.toReversed().map((role): Fault => ({ what: "version", role, to: older })),
  ];
}
