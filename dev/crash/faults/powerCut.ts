import { cpSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { namesFor } from "#infra/nats/names.ts";

const MAX_COPIES = 5;

/** Copies a folder while the server removes and renames files in it. */
function copyLive(from: string, to: string): void {
  for (let copies = 1; ; copies++)
    try {
      rmSync(to, { recursive: true, force: true });
      return cpSync(from, to, { recursive: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || copies === MAX_COPIES) throw error;
    }
}

/**
 * Cuts the power of the embedded NATS server: the last milliseconds of its streams had not reached the disk, but the state of its
 * consumers had. Excludes the feed's stream, because a subscriber reads missed events from `/api/events`.
 */
export async function cutPowerOfNats(data: string, lost_ms: number, kill: () => Promise<void>): Promise<void> {
  const { events: _, ...streams } = namesFor("svc").streams;
  const folderOf = (stream: string) => join(data, "nats", "jetstream", "$G", "streams", stream, "msgs");
  // NATS may have a separate disk without room for the copies
  const copyOf = (stream: string) => join(data, `synced-${stream}`);
  const names = Object.values(streams).filter((stream) => existsSync(folderOf(stream)));
  if (names.length === 0) throw new Error("--faults power finds no streams of NATS on the disk");
  for (const stream of names) copyLive(folderOf(stream), copyOf(stream));
  await sleep(lost_ms);
  await kill();
  for (const stream of names) {
    rmSync(folderOf(stream), { recursive: true });
    cpSync(copyOf(stream), folderOf(stream), { recursive: true });
    rmSync(copyOf(stream), { recursive: true });
  }
}
