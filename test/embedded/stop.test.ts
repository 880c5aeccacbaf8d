import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { runningAddresses } from "#infra/embedded/addresses.ts";
import { testDataFolder } from "../harness.ts";
import { findWords, leaveWord } from "./data.ts";
import { alive, servers, startApart, startHere } from "./processes.ts";

const all = ["meilisearch", "nats", "postgres"];

test("stop leaves no process, and the next start finds the data", async () => {
  const folder = await testDataFolder();
  const first = await startHere(folder);
  const marks = servers(folder);
  expect(alive(marks).sort()).toEqual(all);
  const { stop, lines, ...addresses } = first;
  expect(runningAddresses(folder)).toEqual(addresses);
  await leaveWord(first, "kept");

  await stop();
  expect(alive(marks)).toEqual([]);
  expect(lines).toEqual([]);
  expect(runningAddresses(folder)).toBeUndefined();
  expect(readdirSync(join(folder, "run")).filter((name) => /lock|pid|services/.test(name))).toEqual([]);

  expect(await findWords(await startHere(folder))).toEqual(["kept", "kept", "kept"]);
});

test("a process that ends by a fault takes its services with it", async () => {
  const folder = await testDataFolder();
  const { gone } = await startApart("holder.ts", folder, "throw");
  await gone;
  await vi.waitFor(() => expect(alive(servers(folder))).toEqual([]), 20_000);
});

test("what svc.mjs started ends when svc.mjs is killed", async () => {
  const folder = await testDataFolder();
  const { child } = await startApart("launcher.ts", folder);
  const marks = servers(folder);
  expect(alive(marks).sort()).toEqual(all);
  child.kill("SIGKILL");
  await vi.waitFor(() => expect(alive(marks)).toEqual([]), 20_000);
});
