import type { Answer, Attacker } from "../attacker.ts";

/** Something that one organization, or nobody, does to the service; answers what the service said to it. */
export interface Attack {
  title: string;
  run(attacker: Attacker): Promise<Answer[]>;
  /** Statuses of 500 and more that say what the attacker's own server did. */
  mayAnswer?: number[];
}

export const KIB = 1024;
export const MIB = 1024 * KIB;
/** How long sockets and streams are held open. */
export const HOLD_MS = 5_000;

export const many = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
export const all = (count: number, act: (n: number) => Promise<Answer>): Promise<Answer[]> =>
  Promise.all(many(count, act));
