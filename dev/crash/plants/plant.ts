import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Fault } from "../faults/plan.ts";
import type { Act } from "../load/weights.ts";

/** A bug that the harness plants into the processes that it starts, to prove that it sees it. Production code knows nothing of it. */
export interface Plant {
  name: string;
  /** Path below the root of the repository. */
  file: string;
  /** Text that occurs once in the file. */
  text: string;
  /** What stands there instead. */
  instead: string;
  /** Rules of the findings that name this bug. */
  rules: string[];
  /** What the clients do fifty times as often, for a bug that shows only there. */
  load?: Act[];
  /** Every second fault is one of these, for a bug that shows only then. */
  faults?: Fault[];
}

const root = new URL("../../../", import.meta.url);

export const urlOf = ({ file }: Plant): string => new URL(file, root).href;

/** The source with the bug. Throws unless its place is there exactly once. */
export function plantInto(source: string, { name, file, text, instead }: Plant): string {
  const parts = source.split(text);
  if (parts.length !== 2)
    throw new Error(`The plant ${name} finds its line ${parts.length - 1} times in ${file} instead of once.`);
  return parts.join(instead);
}

/** Throws when the code has changed, so that the bug has no place any more. */
export const checkPlant = (plant: Plant): void =>
  void plantInto(readFileSync(fileURLToPath(urlOf(plant)), "utf8"), plant);
