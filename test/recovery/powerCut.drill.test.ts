import { join } from "node:path";
import { expect, test } from "vitest";
import { openBlobs } from "#infra/blobs.ts";
import { loadMasterKey } from "#infra/masterKey.ts";
import { readJson, writePrivate } from "#infra/privateFiles.ts";
import { openDisks } from "../../dev/crash/faults/disks.ts";
import { afterTest } from "../cleanUp.ts";
import { testFolder } from "../harness.ts";

async function openDisk() {
  const folder = await testFolder();
  const disks = openDisks(join(folder, "data"), join(folder, "disks"));
  afterTest(() => disks.close());
  return {
    path: join(folder, "data", "blobs"),
    cutPower: () => disks.cut(["blobs"], async () => () => {}),
  };
}

test("after a power failure, stored blobs exist and removed blobs do not", async () => {
  const { path, cutPower } = await openDisk();
  const blobs = openBlobs(path);
  const [kept, removed] = [await blobs.put("o/thing", Buffer.from("1")), await blobs.put("o/thing", Buffer.from("2"))];
  const erased = [await blobs.put("o/erased", Buffer.from("3")), await blobs.put("o/thread/turn", Buffer.from("4"))];
  await blobs.remove(removed);
  for (const folder of ["o/erased", "o/thread/turn", "o/thread"]) await blobs.removeAll(folder);
  await cutPower();
  expect((await blobs.get(kept))?.toString()).toBe("1");
  for (const key of [removed, ...erased]) expect(await blobs.get(key)).toBeUndefined();
});

test("a power cut loses neither the new master key nor the last write to a private file", async () => {
  const { path, cutPower } = await openDisk();
  const settings = { DATA_DIR: join(path, "new", "data") };
  const emptyLog = { query: async () => [{ there: false }] as never };
  const { key } = await loadMasterKey(settings, emptyLog);
  const credentials = join(settings.DATA_DIR, "credentials.json");
  for (const nth of [1, 2]) writePrivate(credentials, JSON.stringify({ nth }));
  await cutPower();
  expect(await loadMasterKey(settings, emptyLog)).toEqual({ key, opens: undefined });
  expect(readJson(credentials)).toEqual({ nth: 2 });
});
