import { parseArgs } from "node:util";
import { CLUSTER_FAMILIES, FAMILIES, type Family } from "./faults/surroundings.ts";
import type { Plant } from "./plants/plant.ts";
import { findPlant, PLANTS } from "./plants/plants.ts";

const count = (text: string | undefined, otherwise: number): number => {
  const value = text === undefined ? otherwise : Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${text} is no whole number`);
  return value;
};

export interface CrashOptions {
  kills: number;
  seed: number;
  clients: number;
  /** Keep the run's folder even if nothing was found. */
  keep: boolean;
  /** Run NATS on three servers. Faults kill one, or cut it off from the others. */
  cluster: boolean;
  /** Run two processes with every role, like `npm start`, instead of two per role. */
  together: boolean;
  /** Families of environment faults, mixed with the kills. */
  faults: Family[];
  /** A bug planted into every process. */
  plant?: Plant;
  /** A commit, or `next`: processes of that version and of this one replace each other. */
  beside?: string;
}

/** The arguments. With `plants`, the harness searches for each of these planted bugs instead. */
export interface Arguments extends CrashOptions {
  plants: Plant[];
}

function readFaults(text: string | undefined, cluster: boolean): Family[] {
  const known: readonly Family[] = cluster ? CLUSTER_FAMILIES : FAMILIES;
  if (text === undefined) return [];
  if (text === "all") return [...known];
  const names = text.split(",");
  const unknown = names.find((name) => !(known as readonly string[]).includes(name));
  const where = cluster ? "with --cluster" : "without --cluster";
  if (unknown !== undefined) throw new Error(`--faults ${unknown}: ${where}, choose from all, ${known.join(", ")}`);
  return names as Family[];
}

export const USAGE = `usage: npm run crash -- [--kills N] [--seed N] [--clients N] [--faults all|NAME,NAME] [--cluster | --together | --beside next|COMMIT] [--plant NAME | --plants] [--keep]
docs/reliability.md describes the options. Without --cluster, faults are ${FAMILIES.join(", ")}; with it ${CLUSTER_FAMILIES.join(", ")}.`;

/** Parses the options of `USAGE`. Throws an error that says what is wrong. */
export function readArguments(args: string[]): Arguments {
  const { values } = parseArgs({
    args,
    options: {
      kills: { type: "string" },
      seed: { type: "string" },
      clients: { type: "string" },
      keep: { type: "boolean", default: false },
      cluster: { type: "boolean", default: false },
      together: { type: "boolean", default: false },
      faults: { type: "string" },
      beside: { type: "string" },
      plant: { type: "string" },
      plants: { type: "boolean", default: false },
    },
  });
  const faults = readFaults(values.faults, values.cluster);
  if (values.together && (values.beside !== undefined || values.plant !== undefined || values.plants))
    throw new Error("--beside and --plant act on processes of one role: leave out --together.");
  const plants = values.plants ? PLANTS : values.plant === undefined ? [] : [findPlant(values.plant)];
  return {
    kills: count(values.kills, plants.length > 0 ? 40 : 20),
    seed: count(values.seed, Math.floor(Math.random() * 1_000_000)),
    clients: Math.max(1, count(values.clients, 10)),
    keep: values.keep,
    cluster: values.cluster,
    together: values.together,
    faults,
    ...(values.beside !== undefined && { beside: values.beside }),
    plants,
  };
}
