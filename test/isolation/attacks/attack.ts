import type { Answer, Attacker } from "../attacker.ts";

/** Requests of one organization, or of a stranger, that attack the service. Resolves with the service's answers. */
export interface Attack {
  title: string;
  /** What it needs, made before anybody is watched. */
  prepare?(attacker: Attacker): Promise<unknown>;
  run(attacker: Attacker): Promise<Answer[]>;
  /** Statuses from 500 that only report a failure of the attacker's own server. */
  mayAnswer?: number[];
  /** How many answers it gets at least of a status. Otherwise it has attacked nothing. */
  mustAnswer?: Record<number, number>;
  /** Below this many bytes the memory of a process stays; absent: below 1 GiB. */
  maxMemory?: number;
}

export const KIB = 1024;
export const MIB = 1024 * KIB;
/** How long sockets and streams are held open. */
export const HOLD_MS = 5_000;

export const many = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
export const all = (count: number, act: (n: number) => Promise<Answer>): Promise<Answer[]> =>
  Promise.all(many(count, act));
