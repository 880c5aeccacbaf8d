import { hasProjected } from "#projections/progress.ts";
import { EXPIRED_MODELS, listExpired } from "#projections/retention/expired.ts";
import type { Handle } from "#services/handle.ts";
import { createRetainer } from "#services/retention.ts";
import { sendTo } from "#services/send.ts";
import type { Resources } from "./resources.ts";

/** A services process's work on retention rules. */
export function openRetainer({ db, log, worker, logger, clock }: Resources, handle: Handle) {
  return createRetainer({
    log,
    listExpired: async (organization, whose, position) =>
      (await hasProjected(db, EXPIRED_MODELS, position))
        ? listExpired(db, organization, { ...whose, now: new Date(clock.now()) })
        : undefined,
    send: sendTo(handle, worker),
    onError: (error, stream) => logger.warn({ err: error, stream }, "retention round interrupted, retrying"),
  });
}
