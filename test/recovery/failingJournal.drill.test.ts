import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { verifyDisk } from "#infra/verifyDisk.ts";
import { syncFolder } from "#infra/folders.ts";
import { openDisks } from "../../dev/crash/faults/disks.ts";
import { afterTest } from "../cleanUp.ts";
import { testFolder } from "../harness.ts";

const ROUNDS = 15;
const FOLDERS = 150;
/** Without verifying, this wait lets a third of the rounds find a removal that was synced and undone. */
const MAX_WAIT_MS = 8;

/** Removes folders one after the other. Resolves with those whose removal was synced and verified before the disk failed. */
async function removeUntilFailure(paths: string[], parent: string): Promise<string[]> {
  const removed: string[] = [];
  try {
    for (const path of paths) {
      await rmdir(path);
      await sleep(Math.random() * MAX_WAIT_MS);
      await syncFolder(parent);
      await verifyDisk(join(dirname(parent), randomUUID()));
      removed.push(path);
    }
  } catch (error) {
    expect(["EROFS", "EIO"]).toContain((error as NodeJS.ErrnoException).code);
  }
  return removed;
}

test("a removal that is verified stays when the journal of its disk fails", async () => {
  const folder = await testFolder();
  const disk = join(folder, "data", "blobs");
  const disks = openDisks(join(folder, "data"), join(folder, "disks"));
  afterTest(() => disks.close());

  for (let round = 0; round < ROUNDS; round++) {
    const parent = join(disk, `${round}`);
    const paths = Array.from({ length: FOLDERS }, (_, n) => join(parent, `${n}`));
    for (const path of paths) mkdirSync(path, { recursive: true });
    await syncFolder(parent);
    const removing = Promise.all(
      [0, 1].map((half) =>
        removeUntilFailure(
          paths.filter((_, n) => n % 2 === half),
          parent,
        ),
      ),
    );
    await sleep(50 + Math.random() * 200);
    await disks.refuseWrites("blobs", 0, async () => {
      await removing;
      return () => {};
    });
    const removed = (await removing).flat();
    expect(removed.length).toBeGreaterThan(0);
    expect(removed.filter((path) => existsSync(path))).toEqual([]);
  }
});
