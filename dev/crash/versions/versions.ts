import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { RoleName } from "../faults/surroundings.ts";
import type { SupervisedProcess } from "../supervise.ts";
import { makeOtherVersion, NEXT } from "./otherVersion.ts";

export type VersionName = "this" | "other";

/** Two versions of the program. Every process runs with one of them. */
export interface Versions {
  /** The program with which a process starts next. */
  mainOf(process: string): string;
  /** Replaces the processes of a role by those of a version, one after the other. */
  rollOut(processes: SupervisedProcess[], version: VersionName): Promise<void>;
  /** Leaves only this version's processes, whose read models the checker knows. */
  finish(processes: SupervisedProcess[]): Promise<void>;
}

const READY_MS = 240_000;

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Which of the two versions is the older one. */
export const olderOf = (beside: string): VersionName => (beside === NEXT ? "this" : "other");

/** The order of docs/operating.md: deciders must understand new commands before anybody sends them. */
const FORTH: RoleName[] = ["services", "projections", "http"];

/** The order in which the roles change to a version. */
export const rollOutOrder = (beside: string, to: VersionName): RoleName[] =>
  to === olderOf(beside) ? FORTH.toReversed() : FORTH;

export function openVersions(beside: string, folder: string): Versions {
  const roots = { this: root, other: makeOtherVersion(beside, folder) };
  const versions = new Map<string, VersionName>();
  const versionOf = (process: string) => versions.get(process) ?? olderOf(beside);
  const rollOut: Versions["rollOut"] = async (processes, version) => {
    const replaced = processes.filter(({ name }) => versionOf(name) !== version);
    for (const { name } of replaced) versions.set(name, version);
    const ready = (process: SupervisedProcess) => process.restart(READY_MS);
    // a process of projections is ready only once none of the other version leads
    await Promise.all(replaced.filter(({ role }) => role === "projections").map(ready));
    for (const process of replaced.filter(({ role }) => role !== "projections")) await ready(process);
  };
  return {
    mainOf: (process) => join(roots[versionOf(process)], "main.ts"),
    rollOut,
    async finish(processes) {
      for (const name of rollOutOrder(beside, "this"))
        await rollOut(
          processes.filter(({ role }) => role === name),
          "this",
        );
    },
  };
}
