import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { openReader } from "#infra/readers/openReader.ts";
import { residentBytes } from "#infra/processes/processMemory.ts";
import { UnreadableFile, type Reader } from "#services/reading/reader.ts";

const program = fileURLToPath(new URL("badReader.ts", import.meta.url));
const LIMITS = { deadline_ms: 120_000, resident: 1_500_000_000, idle_ms: 60_000 };

const opened: Reader[] = [];
const open = (processes: number, limits: Partial<typeof LIMITS> = {}): Reader => {
  const reader = openReader({ processes, program, limits: { ...LIMITS, ...limits } });
  opened.push(reader);
  return reader;
};
afterEach(async () => {
  await Promise.all(opened.splice(0).map((reader) => reader.close()));
  expect(readers()).toEqual([]);
});

const parentOf = (pid: string): number => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")")).split(" ")[2]);
  } catch {
    return 0;
  }
};
const children = (): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === process.pid)
    .map(Number);
/** Processes of the platform that files of this worker share. */
const others = new Set(children());
/** The running child processes of the test. */
const readers = (): number[] => children().filter((pid) => !others.has(pid));

const run = async (reader: Reader, action: string, text = ""): Promise<string> => {
  const { markdown } = await reader.read({ mime_type: action, bytes: Buffer.from(text) });
  return markdown.toString();
};
const failure = (reader: Reader, action: string): Promise<unknown> =>
  run(reader, action).catch((error: unknown) => error);
const isRunning = (pid: number): boolean => parentOf(String(pid)) !== 0;
const until = async (happens: () => boolean): Promise<void> => {
  while (!happens()) await sleep(20);
};

test("a process starts for the first file, reads further files, and ends when idle", async () => {
  const reader = open(2, { idle_ms: 3_000 });
  expect(readers()).toEqual([]);
  const first = await run(reader, "echo");
  expect(await run(reader, "echo")).toBe(first);
  expect(readers()).toEqual([Number(first)]);
  await until(() => readers().length === 0);
  expect(await run(reader, "echo", "again")).toContain("again");
});

test("a process reads one file at a time, and no more processes run than are allowed", async () => {
  const reader = open(2);
  const answers = await Promise.all(["a", "b", "c", "d", "e"].map((text) => run(reader, "slow", text)));
  expect(answers.map((answer) => answer.split(" ")[1])).toEqual(["a", "b", "c", "d", "e"]);
  expect(readers()).toHaveLength(2);
});

test.each([
  ["loop", "took too long"],
  ["wait", "took too long"],
])("%s: a file that takes too long fails, and the next one is read", async (action, message) => {
  const reader = open(1, { deadline_ms: 2_000 });
  const [failed, next] = await Promise.all([failure(reader, action), run(reader, "echo", "next")]);
  expect(failed).toBeInstanceOf(UnreadableFile);
  expect(String(failed)).toContain(message);
  expect(next).toContain("next");
});

test("a file that needs too much memory fails at the limit, and the next one is read", async () => {
  const reader = open(1, { resident: 400_000_000 });
  let peak = 0;
  const watch = setInterval(() => readers().forEach((pid) => (peak = Math.max(peak, residentBytes(pid)))), 20);
  const [failed, next] = await Promise.all([failure(reader, "hoard"), run(reader, "echo", "next")]);
  clearInterval(watch);
  expect(failed).toBeInstanceOf(UnreadableFile);
  expect(String(failed)).toContain("too large or too complex");
  expect(next).toContain("next");
  expect(peak).toBeGreaterThan(200_000_000);
  expect(peak).toBeLessThan(900_000_000);
});

test("large contents pass to the process and back unchanged", async () => {
  const reader = open(1);
  const text = "Zwölf Boxkämpfer 🥊 ".repeat(1_000_000);
  const { markdown } = await reader.read({ mime_type: "echo", bytes: Buffer.from(text) });
  expect(markdown.equals(Buffer.from(`${readers()[0]} ${text}`))).toBe(true);
});

test("the progress of a file is reported before its text, and never for the next file", async () => {
  const reader = open(1);
  const reports: number[] = [];
  const file = { mime_type: "pages", bytes: Buffer.from("book") };
  const { markdown } = await reader.read(file, "", ({ pages_read }) => reports.push(pages_read));
  expect(markdown.toString()).toContain("book");
  expect(reports).toEqual([1, 2, 3]);
  expect(await run(reader, "echo", "next")).toContain("next");
  expect(reports).toEqual([1, 2, 3]);
});

test.each(["fill", "exit", "claim", "half", "flood"])(
  "a process that dies or sends a wrong length fails only its own file: %s",
  async (action) => {
    const reader = open(1);
    const [failed, next] = await Promise.all([failure(reader, action), run(reader, "echo", "next")]);
    expect(failed).toBeInstanceOf(UnreadableFile);
    expect(next).toContain("next");
  },
);

test("a refusal reaches the user, while an unexpected error does not and replaces the process", async () => {
  const reader = open(1);
  const first = await run(reader, "echo");
  expect(await failure(reader, "refuse")).toEqual(new UnreadableFile("The file is upside down."));
  expect(await run(reader, "echo")).toBe(first);
  const broken = await failure(reader, "throw");
  expect(broken).toBeInstanceOf(UnreadableFile);
  expect((broken as Error).message).not.toContain("undefined");
  expect(String((broken as Error).cause)).toContain("undefined is not a function");
  expect(await run(reader, "echo")).not.toBe(first);
});

test("a process that is killed fails the file that it is reading, and no file if it is idle", async () => {
  const reader = open(1);
  const idle = Number(await run(reader, "echo"));
  process.kill(idle, "SIGKILL");
  const reading = failure(reader, "grow");
  const findBusy = () => readers().find((pid) => pid !== idle && residentBytes(pid) > 450_000_000);
  // before it has begun the file, the pool would give the file to another process
  await until(() => findBusy() !== undefined);
  process.kill(findBusy()!, "SIGKILL");
  expect(await reading).toBeInstanceOf(UnreadableFile);
  expect(await run(reader, "echo", "next")).toContain("next");
});

test("a process is replaced after 50 files, or if it keeps too much memory", async () => {
  const reader = open(1);
  const pids = new Set<string>();
  for (let file = 0; file < 50; file += 1) pids.add(await run(reader, "echo"));
  expect(pids.size).toBe(1);
  const next = await run(reader, "echo");
  expect(pids).not.toContain(next);
  expect(await run(reader, "keep")).toBe(next);
  expect(await run(reader, "echo")).not.toBe(next);
});

test("a process does not inherit the environment and can read no file but its program", async () => {
  const reader = open(1);
  expect(JSON.parse(await run(reader, "environment"))).not.toHaveProperty("PATH");
  const secrets = ["/etc/passwd", "/proc/self/environ", new URL("../../.data/master.key", import.meta.url).pathname];
  for (const path of secrets) expect(await run(reader, "readFile", path)).toBe("ERR_ACCESS_DENIED");
});

test("closing ends every process and fails the pending files without calling them unreadable", async () => {
  const reader = open(1);
  const pending = [failure(reader, "wait"), failure(reader, "echo")];
  await until(() => readers().length === 1);
  await reader.close();
  for (const failed of await Promise.all(pending)) {
    expect(failed).toBeInstanceOf(Error);
    expect(failed).not.toBeInstanceOf(UnreadableFile);
  }
  expect(await failure(reader, "echo")).not.toBeInstanceOf(UnreadableFile);
});

test("a busy process ends when its parent is killed", async () => {
  const parent = spawn(process.execPath, [fileURLToPath(new URL("badParent.ts", import.meta.url))], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(parent.stdout, "data")) as [Buffer];
  const pid = Number(line.toString());
  await sleep(300);
  expect(isRunning(pid)).toBe(true);
  parent.kill("SIGKILL");
  await until(() => !isRunning(pid));
});

test("an owner with slow files leaves a process for others", async () => {
  const reader = openReader({ processes: 2, perOwner: 1, program, limits: LIMITS });
  opened.push(reader);
  const file = (mime_type: string) => ({ mime_type, bytes: Buffer.from("") });
  const slow = [reader.read(file("loop"), "a"), reader.read(file("loop"), "a")];
  const refused = Promise.all(slow.map((reading) => expect(reading).rejects.toThrow("closed")));
  expect((await reader.read(file("echo"), "b")).markdown.toString()).toMatch(/^\d+/);
  await reader.close();
  await refused;
});
