import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { testDataFolder } from "#test/harness.ts";
import { StillStarting, type ServerSpec } from "./serverSpec.ts";
import { supervise } from "./supervise.ts";

/** A server that exits with 1 while the shell condition `refuses` is true; otherwise it stays and is ready. */
const serverThat = (refuses: string, rebuildable: string, started: string): ServerSpec => ({
  name: "meilisearch",
  command: () => ({
    file: "/bin/sh",
    args: ["-c", `if ${refuses}; then echo torn; exit 1; fi; touch ${started}; exec sleep 60`],
  }),
  probe: async () => {
    if (!existsSync(started)) throw new Error("not yet");
  },
  rebuildable,
  stopSignal: "SIGTERM",
  url: (port) => `http://127.0.0.1:${port}`,
});

const makeData = (folder: string) => {
  const data = join(folder, "data");
  mkdirSync(data);
  writeFileSync(join(data, "torn"), "half a page");
  return data;
};

test("a server that cannot read data that can be rebuilt starts without them, with a warning", async () => {
  const folder = await testDataFolder();
  const data = makeData(folder);
  const lines: string[] = [];
  const spec = serverThat(`[ -e ${data}/torn ]`, data, join(folder, "started"));
  const server = await supervise(folder, spec, (line) => lines.push(line));
  await server.stop();
  expect(lines).toEqual([
    "meilisearch could not read its data and starts without them; they are rebuilt from the log: torn",
  ]);
  expect(existsSync(join(data, "torn"))).toBe(false);
  expect(existsSync(`${data}.unreadable`)).toBe(false);
});

test("a server that does not start for another reason keeps its data", async () => {
  const folder = await testDataFolder();
  const data = makeData(folder);
  const spec = serverThat("true", data, join(folder, "started"));
  await expect(supervise(folder, spec, () => {})).rejects.toThrow("meilisearch does not start (exit code 1): torn");
  expect(readFileSync(join(data, "torn"), "utf8")).toBe("half a page");
});

test("a server that reports for minutes that it recovers is not killed in that time", async () => {
  const folder = await testDataFolder();
  const readTime = performance.now.bind(performance);
  let [minutes, starts] = [0, 0];
  const clock = vi.spyOn(performance, "now").mockImplementation(() => readTime() + minutes * 60_000);
  onTestFinished(() => clock.mockRestore());
  const whole = serverThat("false", join(folder, "data"), join(folder, "started"));
  const spec: ServerSpec = {
    ...whole,
    command(port) {
      starts += 1;
      return whole.command(port);
    },
    async probe() {
      minutes += 1;
      if (minutes < 4) throw new StillStarting("the database system is starting up");
    },
  };
  const server = await supervise(folder, spec, () => {});
  await server.stop();
  expect(starts).toBe(1);
});

test("a server that dies while its disk is read-only restarts once the disk is writable", async () => {
  const folder = await testDataFolder();
  const lines: string[] = [];
  let isReadOnly = false;
  const spec: ServerSpec = {
    ...serverThat("false", join(folder, "data"), join(folder, "started")),
    prepare() {
      if (isReadOnly) throw new Error("read-only file system");
    },
  };
  const server = await supervise(folder, spec, (line) => lines.push(line));
  isReadOnly = true;
  const { pid } = JSON.parse(readFileSync(join(folder, "run/meilisearch.pid"), "utf8")) as { pid: number };
  process.kill(pid, "SIGKILL");
  await vi.waitFor(() => expect(lines).toContainEqual(expect.stringContaining("read-only file system")));
  isReadOnly = false;
  await vi.waitFor(() => expect(lines.at(-1)).toMatch("meilisearch restarted as process"), { timeout: 10_000 });
  await server.stop();
});
