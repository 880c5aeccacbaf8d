import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { markOf } from "#infra/embedded/mark.ts";
import { testDataFolder } from "../harness.ts";
import { findWords, leaveWord } from "./data.ts";
import { alive, servers, startApart, startHere } from "./processes.ts";

test("services killed with -9 come back on their ports, with their data and a line each", async () => {
  const folder = await testDataFolder();
  const services = await startHere(folder);
  await leaveWord(services, "survived");
  const before = servers(folder);
  for (const { pid } of Object.values(before)) process.kill(pid, "SIGKILL");

  await vi.waitFor(async () => expect(await findWords(services)).toEqual(["survived", "survived", "survived"]), 20_000);
  for (const [name, { pid }] of Object.entries(before)) {
    expect(services.lines).toContain(`${name} (process ${pid}) died (SIGKILL); starting it again`);
    await vi.waitFor(
      () => expect(services.lines).toContain(`${name} is back as process ${servers(folder)[name]?.pid}`),
      20_000,
    );
  }
});

test("after a kill -9 of the parent the next start ends the orphans and loses nothing", async () => {
  const folder = await testDataFolder();
  const { child, gone, addresses } = await startApart("holder.ts", folder);
  await leaveWord(addresses, "not lost");
  const orphans = servers(folder);
  child.kill("SIGKILL");
  await gone;
  expect(alive(orphans)).toHaveLength(3);

  const next = await startHere(folder);
  expect(alive(orphans)).toEqual([]);
  expect(next.lines).toContain(
    `Ending postgres (process ${orphans["postgres"]?.pid}), left over from an earlier start`,
  );
  expect(await findWords(next)).toEqual(["not lost", "not lost", "not lost"]);
});

test("a pid that was given to another process since is not touched", async () => {
  const folder = await testDataFolder();
  const stranger = spawn("sleep", ["60"]);
  const mark = markOf(stranger.pid!);
  mkdirSync(join(folder, "run"), { mode: 0o711 });
  for (const name of ["nats.pid", "lock"])
    writeFileSync(join(folder, "run", name), JSON.stringify({ ...mark, started: "at another time" }));

  const { lines } = await startHere(folder);
  expect(lines).toEqual([]);
  expect(alive({ stranger: mark })).toEqual(["stranger"]);
  stranger.kill();
});

test("a second start on one data folder is one line that names the first", async () => {
  const folder = await testDataFolder();
  const { child, addresses } = await startApart("holder.ts", folder);
  await leaveWord(addresses, "undisturbed");
  const second = startHere(folder);
  await expect(second).rejects.toThrow(
    `Already running as process ${child.pid} on ${folder}: stop that one, or give another DATA_DIR.`,
  );
  expect(await findWords(addresses)).toEqual(["undisturbed", "undisturbed", "undisturbed"]);
  child.kill();
  expect(await findWords(await startHere(folder))).toEqual(["undisturbed", "undisturbed", "undisturbed"]);
});
