import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Fault } from "../faults/plan.ts";
import type { Act } from "../load/weights.ts";

/** A bug that the harness plants into the processes it starts, to prove that it would be found. Production code is not involved. */
export interface Plant {
  name: string;
  /** Path below the root of the repository. */
  file: string;
  /** Text that occurs exactly once in the file. */
  text: string;
  /** The replacement for the text. */
  instead: string;
  /** Rules whose findings identify this bug. */
  rules: string[];
  /** Operations that the clients favour, for a bug that shows only there. */
  load?: Act[];
  /** Every second fault is one of these, for a bug that shows only then. */
  faults?: Fault[];
}

const root = new URL("../../../", import.meta.url);

export const urlOf = ({ file }: Plant): string => new URL(file, root).href;

/** The source with the bug. Throws unless the text occurs exactly once. */
export function plantInto(source: string, { name, file, text, instead }: Plant): string {
  const parts = source.split(text);
  if (parts.length !== 2)
    throw new Error(`The plant ${name} finds its line ${parts.length - 1} times in ${file} instead of once.`);
  return parts.join(instead);
}

/** Throws if the code has changed so that the bug no longer has a place. */
export const checkPlant = (plant: Plant): void =>
  void plantInto(readFileSync(fileURLToPath(urlOf(plant)), "utf8"), plant);
