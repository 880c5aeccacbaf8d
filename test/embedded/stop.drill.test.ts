import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { runningAddresses } from "#infra/embedded/addresses.ts";
import { testDataFolder } from "../harness.ts";
import { findWords, storeWord } from "./data.ts";
import { alive, servers, startScript, startInProcess } from "./processes.ts";

const all = ["meilisearch", "nats", "postgres"];

test("stopping the embedded servers leaves no process, and the next start finds their data", async () => {
  const folder = await testDataFolder();
  const first = await startInProcess(folder);
  const identities = servers(folder);
  expect(alive(identities).sort()).toEqual(all);
  const { stop, lines, ...addresses } = first;
  expect(runningAddresses(folder)).toEqual(addresses);
  await storeWord(first, "kept");

  await stop();
  expect(alive(identities)).toEqual([]);
  expect(lines).toEqual([expect.stringMatching(/^NATS \d/)]);
  expect(runningAddresses(folder)).toBeUndefined();
  expect(readdirSync(join(folder, "run")).filter((name) => /lock|pid|services/.test(name))).toEqual([]);

  expect(await findWords(await startInProcess(folder))).toEqual(["kept", "kept", "kept"]);
});

test("embedded servers end when their process ends with an uncaught error", async () => {
  const folder = await testDataFolder();
  const { gone } = await startScript("holder.ts", folder, "throw");
  await gone;
  await vi.waitFor(() => expect(alive(servers(folder))).toEqual([]), 60_000);
});

test("the service and its servers end when svc.mjs is killed", async () => {
  const folder = await testDataFolder();
  const { child } = await startScript("launcher.ts", folder);
  const identities = servers(folder);
  expect(alive(identities).sort()).toEqual(all);
  child.kill("SIGKILL");
  await vi.waitFor(() => expect(alive(identities)).toEqual([]), 60_000);
});
