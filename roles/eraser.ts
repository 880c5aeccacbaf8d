import { createDeletionReader } from "#infra/postgres/deletions.ts";
import { listOwned, OWNED_MODELS } from "#projections/owned.ts";
import { hasProjected } from "#projections/progress.ts";
import { listRunsToErase } from "#projections/runs/ownedRuns.ts";
import { createEraser } from "#services/erasures.ts";
import type { Handle } from "#services/handle.ts";
import { sendTo } from "#services/send.ts";
import type { Resources } from "./resources.ts";
import { findRunBelongings } from "./runBelongings.ts";

/** A services process's work on erasures. */
export function openEraser({ db, log, bus, worker, logger }: Resources, handle: Handle) {
  return createEraser({
    log,
    frames: bus.frames,
    listOwned: async (organization, query, { before, position }) =>
      (await hasProjected(db, OWNED_MODELS, position)) ? listOwned(db, organization, query, before) : undefined,
    readDeletions: createDeletionReader(db),
    listRunsFrom: (organization, from) =>
      listRunsToErase(db, { organization, owner: { from }, before: Number.MAX_SAFE_INTEGER }),
    belongingsOf: findRunBelongings(db),
    send: sendTo(handle, worker),
    onError: (error, stream) => logger.warn({ err: error, stream }, "erasure interrupted, retrying"),
  });
}
