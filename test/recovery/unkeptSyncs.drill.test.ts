import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { StorageUnavailable } from "#events/ports.ts";
import type { Blobs } from "#events/vault.ts";
import { openBlobs } from "#infra/blobs.ts";
import { openDisks } from "../../dev/crash/faults/disks.ts";
import { afterTest } from "../cleanUp.ts";
import { testFolder } from "../harness.ts";

const state = vi.hoisted(() => ({ duringSync: async (): Promise<void> => {} }));

// syncs succeed, whatever happens to the disk meanwhile, as those of ext4 do for a moment after its journal has failed
vi.mock("#infra/folders.ts", async (importOriginal) => ({
  ...(await importOriginal<typeof import("#infra/folders.ts")>()),
  syncFolder: () => state.duringSync(),
}));

async function waitUntilFailed(disk: string): Promise<void> {
  for (;;)
    try {
      await writeFile(join(disk, "still-works"), "");
      await sleep(5);
    } catch {
      return;
    }
}

const CHANGES: Record<string, (blobs: Blobs, key: string) => Promise<unknown>> = {
  "a blob is stored": (blobs) => blobs.put("o/new", Buffer.from("new")),
  "a blob gets a second key": (blobs, key) => blobs.link("o/second", key),
  "a blob is removed": (blobs, key) => blobs.remove(key),
  "all blobs of a folder are removed": (blobs) => blobs.removeAll("o/file"),
};

test.each(Object.entries(CHANGES))(
  "%s only if the disk has not failed during a sync that succeeded",
  async (_, change) => {
    const folder = await testFolder();
    const disk = join(folder, "data", "blobs");
    const disks = openDisks(join(folder, "data"), join(folder, "disks"));
    afterTest(() => disks.close());
    const blobs = openBlobs(disk);
    const key = await blobs.put("o/file", Buffer.from("old"));

    const { promise: hasEnded, resolve: end } = Promise.withResolvers<void>();
    let failing: Promise<void> | undefined;
    state.duringSync = async () => {
      failing ??= disks.refuseWrites("blobs", 0, async () => {
        await hasEnded;
        return () => {};
      });
      await waitUntilFailed(disk);
    };
    afterTest(() => (state.duringSync = async () => {}));
    await expect(change(blobs, key)).rejects.toThrow(StorageUnavailable);
    end();
    await failing;
  },
);
