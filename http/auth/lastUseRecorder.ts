import type { FastifyBaseLogger } from "fastify";
import { currentTime } from "#events/clock.ts";
import type { LastUses } from "../base/ports.ts";

const SAVE_EVERY_MS = 3_000;

/** Collects when keys and sessions were last used and saves the times in batches, so that no request waits for the write. */
export function createLastUseRecorder(lastUses: LastUses, logger: FastifyBaseLogger) {
  let unsaved = new Map<string, Date>();

  async function save(): Promise<void> {
    if (unsaved.size === 0) return;
    const batch = unsaved;
    unsaved = new Map();
    try {
      await lastUses.save(batch);
    } catch (error) {
      for (const [id, at] of batch) if (!unsaved.has(id)) unsaved.set(id, at);
      logger.warn({ err: error }, "last use of credentials not saved, retrying");
    }
  }

  const timer = setInterval(() => void save(), SAVE_EVERY_MS).unref();
  return {
    noteUse: (id: string): void => void unsaved.set(id, new Date(currentTime())),
    async close(): Promise<void> {
      clearInterval(timer);
      await save();
    },
  };
}
