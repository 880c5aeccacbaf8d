import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { injectSurrounding } from "../../dev/crash/faults/surround.ts";
import type { Topology } from "../../dev/crash/topology.ts";
import { testFolder } from "../harness.ts";

test("a power cut of everything also loses the newest messages of NATS's streams", async () => {
  const data = await testFolder();
  const folder = join(data, "nats", "jetstream", "$G", "streams", "SVC_COMMANDS", "msgs");
  mkdirSync(folder, { recursive: true });
  const block = join(folder, "1.blk");
  writeFileSync(block, "synced");
  const cut: unknown[] = [];
  const topology = {
    data,
    roles: [],
    holdSupervisor: () => () => {},
    /** Called just before the kill. */
    pidOf: async () => {
      writeFileSync(block, "synced and more");
      throw new Error("not running");
    },
    surroundings: { disks: { cut: async (stores: unknown) => void cut.push(stores) } },
  } as unknown as Topology;
  const injected = await injectSurrounding(topology, { what: "power", store: "everything", lost_ms: 0 });
  await injected!.ended;
  expect(readFileSync(block, "utf8")).toBe("synced");
  expect(cut).toEqual([["postgres", "meilisearch", "blobs"]]);
});
