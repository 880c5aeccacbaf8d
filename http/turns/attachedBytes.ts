import type { FastifyRequest } from "fastify";
import type { Spender } from "#projections/budgets/subjects.ts";
import type { HoldingAdmission } from "#projections/budgets/watch.ts";
import type { Http } from "../base/deps.ts";
import { limitReached, warningHeader } from "../base/limits.ts";

/** Counts the bytes that a turn stores against the limits of stored bytes. */
export interface AttachedBytes {
  /** Reserves bytes. Throws 402 `budget_exceeded`. */
  admit(bytes: number): Promise<void>;
  /** Runs work before the turn is recorded. If it fails, nothing was stored, so the bytes are free again. */
  during<T>(work: () => Promise<T>): Promise<T>;
  /** Call once the turn is recorded, with the position of its event. */
  settle(position: number): void;
  withdraw(): void;
}

export function countAttachedBytes(
  { budgets }: Pick<Http, "budgets">,
  { addHeaders }: Pick<FastifyRequest, "addHeaders">,
  spender: Spender,
): AttachedBytes {
  const all: HoldingAdmission[] = [];
  const withdraw = (): void => all.forEach((admitted) => admitted.withdraw());
  return {
    async admit(bytes) {
      const answer = await budgets.admit(spender, { bytes });
      if ("refused" in answer) throw limitReached(answer.refused);
      all.push(answer.admitted);
      const reached = answer.admitted.reached();
      if (reached) addHeaders(warningHeader(reached));
    },
    async during(work) {
      try {
        return await work();
      } catch (error) {
        withdraw();
        throw error;
      }
    },
    settle: (position) => all.forEach((admitted) => admitted.settle(position)),
    withdraw,
  };
}
