import type { FastifyReply } from "fastify";
import { z } from "zod";
import { endedAmong } from "#projections/runs/query.ts";
import { goneSignal } from "../chat/unanswered.ts";
import type { Http } from "../deps.ts";
import { createWatch } from "./watch.ts";

const MOST_S = 60;

/** For reads of a run that would rather wait for its end than ask again. */
export const WaitQuery = z.object({
  wait: z
    .string()
    .optional()
    .describe(`Seconds to wait for the end of a run that lives, ${MOST_S} at most; 0 by default.`),
});

export type WaitForEnd = (run_id: string, wait: string | undefined, reply: FastifyReply) => Promise<boolean>;

/** Waits for the end of a run that lives, as long as was asked; whether it has come, and can be read. What is out of range is corrected. */
export function watchEnds({ db, onProjected }: Pick<Http, "db" | "onProjected">): WaitForEnd {
  const ended = createWatch<{ id: string }>(
    (hint) => onProjected((name) => name === "runs" && hint()),
    async (waiting) => {
      const found = await endedAmong(db, [...new Set(waiting.map(({ id }) => id))]);
      for (const one of waiting) if (found.has(one.id)) one.done();
    },
  );
  return async (id, wait, reply) => {
    const seconds = Math.min(MOST_S, Math.max(0, Number(wait) || 0));
    if (seconds === 0) return false;
    const over = AbortSignal.any([AbortSignal.timeout(seconds * 1_000), goneSignal(reply.raw)]);
    await ended({ id }, over);
    return !over.aborted;
  };
}
