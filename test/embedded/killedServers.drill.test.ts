import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { identifyProcess } from "#infra/embedded/processIdentity.ts";
import { afterTest } from "#test/cleanUp.ts";
import { testDataFolder } from "../harness.ts";
import { findWords, storeWord } from "./data.ts";
import { alive, servers, startScript, startInProcess } from "./processes.ts";

test("embedded servers killed with -9 restart on their ports with their data, and one log message each", async () => {
  const folder = await testDataFolder();
  const services = await startInProcess(folder);
  await storeWord(services, "survived");
  const before = servers(folder);
  for (const { pid } of Object.values(before)) process.kill(pid, "SIGKILL");

  await vi.waitFor(async () => expect(await findWords(services)).toEqual(["survived", "survived", "survived"]), 60_000);
  for (const [name, { pid }] of Object.entries(before)) {
    expect(services.lines).toContain(`${name} (process ${pid}) died (SIGKILL), restarting it`);
    await vi.waitFor(
      () => expect(services.lines).toContain(`${name} restarted as process ${servers(folder)[name]?.pid}`),
      20_000,
    );
  }
});

/** The background writer of a PostgreSQL server. */
const backgroundWriter = (postmaster: number): number => {
  const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, "utf8")
    .trim()
    .split(" ")
    .map(Number);
  return children.find((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("background writer"))!;
};

test("PostgreSQL restarts although a process of the killed one does not notice its end, and ends no other in its folder", async () => {
  const folder = await testDataFolder();
  const services = await startInProcess(folder);
  await storeWord(services, "kept");
  const { pid } = servers(folder)["postgres"]!;
  const writer = identifyProcess(backgroundWriter(pid));
  const reader = spawn("sleep", ["60"], { cwd: readlinkSync(`/proc/${writer.pid}/cwd`) });
  afterTest(() => reader.kill());
  process.kill(writer.pid, "SIGSTOP");
  process.kill(pid, "SIGKILL");
  await vi.waitFor(async () => expect(await findWords(services)).toEqual(["kept", "kept", "kept"]), 60_000);
  expect(alive({ writer, reader: identifyProcess(reader.pid!) })).toEqual(["reader"]);
});

test("the next start after a kill -9 of the parent ends the orphaned servers and keeps their data", async () => {
  const folder = await testDataFolder();
  const { child, gone, addresses } = await startScript("holder.ts", folder);
  await storeWord(addresses, "not lost");
  const orphans = servers(folder);
  child.kill("SIGKILL");
  await gone;
  expect(alive(orphans)).toHaveLength(3);

  const next = await startInProcess(folder);
  expect(alive(orphans)).toEqual([]);
  expect(next.lines).toContain(
    `Ending postgres (process ${orphans["postgres"]?.pid}), left over from an earlier start`,
  );
  expect(await findWords(next)).toEqual(["not lost", "not lost", "not lost"]);
});

test("a process that now has the pid of an earlier server is not signalled", async () => {
  const folder = await testDataFolder();
  const stranger = spawn("sleep", ["60"]);
  const identity = identifyProcess(stranger.pid!);
  mkdirSync(join(folder, "run"), { mode: 0o711 });
  for (const name of ["nats.pid", "lock"])
    writeFileSync(join(folder, "run", name), JSON.stringify({ ...identity, started: "at another time" }));

  const { lines } = await startInProcess(folder);
  expect(lines).toEqual([expect.stringMatching(/^NATS \d/)]);
  expect(alive({ stranger: identity })).toEqual(["stranger"]);
  stranger.kill();
});

test("a second start on the same data folder fails with one line that names the first process", async () => {
  const folder = await testDataFolder();
  const { child, addresses } = await startScript("holder.ts", folder);
  await storeWord(addresses, "undisturbed");
  const second = startInProcess(folder);
  await expect(second).rejects.toThrow(
    `Already running as process ${child.pid} on ${folder}: stop that process, or set another DATA_DIR.`,
  );
  expect(await findWords(addresses)).toEqual(["undisturbed", "undisturbed", "undisturbed"]);
  child.kill();
  expect(await findWords(await startInProcess(folder))).toEqual(["undisturbed", "undisturbed", "undisturbed"]);
});
