import { listOwned } from "#projections/owned.ts";
import { hasProjected } from "#projections/progress.ts";
import { createEraser } from "#services/erasures.ts";
import type { Handle } from "#services/handle.ts";
import { sendTo } from "#services/send.ts";
import type { Resources } from "./resources.ts";

/** The work of a services process on erasures. */
export function openErasing({ db, log, worker, logger }: Resources, handle: Handle) {
  return createEraser({
    log,
    listOwned: async (organization, whose, { before, position }) => {
      const projected = await Promise.all(
        ["turns", "files", "usage", "holds"].map((name) => hasProjected(db, name, position)),
      );
      return projected.every(Boolean) ? listOwned(db, organization, whose, before) : undefined;
    },
    send: sendTo(handle, worker),
    onError: (error, stream) => logger.warn({ err: error, stream }, "erasure interrupted, retrying"),
  });
}
