import type { FastifyReply } from "fastify";
import { z } from "zod";
import { findEndedRuns } from "#projections/runs/query.ts";
import type { Http } from "../base/deps.ts";
import { disconnectSignal } from "../base/disconnect.ts";
import { createSharedPoll } from "./sharedPoll.ts";

/** Below the usual timeouts of clients and proxies. */
const MAX_WAIT_S = 60;

export const WaitQuery = z.object({
  wait: z.string().optional().describe(`Seconds to wait for the end of a live run, at most ${MAX_WAIT_S}. Default: 0.`),
});

export type WaitForEnd = (run_id: string, wait: string | undefined, reply: FastifyReply) => Promise<boolean>;

/**
 * Waits up to `wait` seconds until a run has ended; a value out of range is corrected. True if the read model shows the end.
 * Throws 429 `too_many_streams`, and if the caller may no longer read the run.
 */
export function createWaitForEnd({
  db,
  onProjected,
  streams,
}: Pick<Http, "db" | "onProjected" | "streams">): WaitForEnd {
  const waitFor = createSharedPoll<{ id: string }>(
    (hint) => onProjected((name) => name === "runs" && hint()),
    async (waiters) => {
      const ended = await findEndedRuns(db, [...new Set(waiters.map(({ id }) => id))]);
      for (const waiter of waiters) if (ended.has(waiter.id)) waiter.done();
    },
  );
  return async (id, wait, reply) => {
    const seconds = Math.min(MAX_WAIT_S, Math.max(0, Number(wait) || 0));
    if (seconds === 0) return false;
    streams.countWaitingRead(reply);
    // AbortSignal.timeout takes only whole numbers
    const timeout = AbortSignal.timeout(Math.ceil(seconds * 1_000));
    const giveUp = AbortSignal.any([timeout, disconnectSignal(reply.raw)]);
    await waitFor({ id }, giveUp);
    await reply.request.recheckCredential?.();
    return !giveUp.aborted;
  };
}
