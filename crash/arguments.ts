import { parseArgs } from "node:util";

const count = (text: string | undefined, otherwise: number): number => {
  const value = text === undefined ? otherwise : Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${text} is no whole number`);
  return value;
};

export interface Wished {
  kills: number;
  seed: number;
  clients: number;
  /** Keeps the run's folder also when nothing was found. */
  keep: boolean;
  /** NATS on three servers, of which a blow kills one. */
  cluster: boolean;
}

/** `--kills N --seed S --clients C --keep --cluster` */
export function readArguments(args: string[]): Wished {
  const { values } = parseArgs({
    args,
    options: {
      kills: { type: "string" },
      seed: { type: "string" },
      clients: { type: "string" },
      keep: { type: "boolean", default: false },
      cluster: { type: "boolean", default: false },
    },
  });
  return {
    kills: count(values.kills, 20),
    seed: count(values.seed, Math.floor(Math.random() * 1_000_000)),
    clients: Math.max(1, count(values.clients, 10)),
    keep: values.keep,
    cluster: values.cluster,
  };
}
