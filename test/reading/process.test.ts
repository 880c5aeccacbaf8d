import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { openReader } from "#infra/readers/openReader.ts";
import { residentBytes } from "#infra/processes/resident.ts";
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
/** The processes that this one has started. */
const readers = (): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === process.pid)
    .map(Number);

const ask = async (reader: Reader, deed: string, text = ""): Promise<string> => {
  const { markdown } = await reader.read({ name: deed, mime_type: "text/plain", bytes: Buffer.from(text) });
  return markdown.toString();
};
const failure = (reader: Reader, deed: string): Promise<unknown> => ask(reader, deed).catch((error: unknown) => error);
const isRunning = (pid: number): boolean => parentOf(String(pid)) !== 0;
const until = async (happens: () => boolean): Promise<void> => {
  while (!happens()) await sleep(20);
};

test("a process is started for the first file, kept for the next, and ends when there is none", async () => {
  const reader = open(2, { idle_ms: 200 });
  expect(readers()).toEqual([]);
  const first = await ask(reader, "say");
  expect(await ask(reader, "say")).toBe(first);
  expect(readers()).toEqual([Number(first)]);
  await until(() => readers().length === 0);
  expect(await ask(reader, "say", "again")).toContain("again");
});

test("a process reads one file at a time, and no more processes run than are allowed", async () => {
  const reader = open(2);
  const answers = await Promise.all(["a", "b", "c", "d", "e"].map((text) => ask(reader, "slow", text)));
  expect(answers.map((answer) => answer.split(" ")[1])).toEqual(["a", "b", "c", "d", "e"]);
  expect(readers()).toHaveLength(2);
});

test.each([
  ["loop", "took too long"],
  ["wait", "took too long"],
])("%s: a file that takes too long fails, and the next is read", async (deed, told) => {
  const reader = open(1, { deadline_ms: 500 });
  const [failed, next] = await Promise.all([failure(reader, deed), ask(reader, "say", "next")]);
  expect(failed).toBeInstanceOf(UnreadableFile);
  expect(String(failed)).toContain(told);
  expect(next).toContain("next");
});

test("a file that takes too much memory fails before it has taken it, and the next is read", async () => {
  const reader = open(1, { resident: 400_000_000 });
  let most = 0;
  const watch = setInterval(() => readers().forEach((pid) => (most = Math.max(most, residentBytes(pid)))), 20);
  const [failed, next] = await Promise.all([failure(reader, "hoard"), ask(reader, "say", "next")]);
  clearInterval(watch);
  expect(failed).toBeInstanceOf(UnreadableFile);
  expect(String(failed)).toContain("too large or too complex");
  expect(next).toContain("next");
  expect(most).toBeGreaterThan(200_000_000);
  expect(most).toBeLessThan(900_000_000);
});

test("bytes go there and come back as they are, however many", async () => {
  const reader = open(1);
  const text = "Zwölf Boxkämpfer 🥊 ".repeat(1_000_000);
  const { markdown } = await reader.read({ name: "say", mime_type: "text/plain", bytes: Buffer.from(text) });
  expect(markdown.equals(Buffer.from(`${readers()[0]} ${text}`))).toBe(true);
});

test.each(["fill", "exit", "claim", "half", "flood"])(
  "%s: a process that does not survive a file, or lies of what it gives, fails it alone",
  async (deed) => {
    const reader = open(1);
    const [failed, next] = await Promise.all([failure(reader, deed), ask(reader, "say", "next")]);
    expect(failed).toBeInstanceOf(UnreadableFile);
    expect(next).toContain("next");
  },
);

test("what a reader says reaches a person; what breaks in it does not, and ends its process", async () => {
  const reader = open(1);
  const first = await ask(reader, "say");
  expect(await failure(reader, "refuse")).toEqual(new UnreadableFile("The file is upside down."));
  expect(await ask(reader, "say")).toBe(first);
  const broken = await failure(reader, "throw");
  expect(broken).toBeInstanceOf(UnreadableFile);
  expect((broken as Error).message).not.toContain("undefined");
  expect(String((broken as Error).cause)).toContain("undefined is not a function");
  expect(await ask(reader, "say")).not.toBe(first);
});

test("a process that is killed from outside fails the file it reads; killed while it waits, none", async () => {
  const reader = open(1);
  const idle = Number(await ask(reader, "say"));
  process.kill(idle, "SIGKILL");
  const reading = failure(reader, "wait");
  await until(() => readers().some((pid) => pid !== idle));
  const [busy] = readers().filter((pid) => pid !== idle);
  await sleep(500);
  process.kill(busy!, "SIGKILL");
  expect(await reading).toBeInstanceOf(UnreadableFile);
  expect(await ask(reader, "say", "next")).toContain("next");
});

test("a process is replaced after fifty files, and after one of which it keeps too much", async () => {
  const reader = open(1);
  const pids = new Set<string>();
  for (let file = 0; file < 50; file += 1) pids.add(await ask(reader, "say"));
  expect(pids.size).toBe(1);
  const next = await ask(reader, "say");
  expect(pids).not.toContain(next);
  expect(await ask(reader, "keep")).toBe(next);
  expect(await ask(reader, "say")).not.toBe(next);
});

test("a process knows no secret and reads no file but its programs", async () => {
  const reader = open(1);
  expect(JSON.parse(await ask(reader, "environment"))).not.toHaveProperty("PATH");
  const secrets = ["/etc/passwd", "/proc/self/environ", new URL("../../.data/master.key", import.meta.url).pathname];
  for (const path of secrets) expect(await ask(reader, "look", path)).toBe("ERR_ACCESS_DENIED");
});

test("closing ends every process; what was being read or waited is not known to be unreadable", async () => {
  const reader = open(1);
  const asked = [failure(reader, "wait"), failure(reader, "say")];
  await until(() => readers().length === 1);
  await reader.close();
  for (const failed of await Promise.all(asked)) {
    expect(failed).toBeInstanceOf(Error);
    expect(failed).not.toBeInstanceOf(UnreadableFile);
  }
  expect(await failure(reader, "say")).not.toBeInstanceOf(UnreadableFile);
});

test("a process in a loop ends when the one that started it is killed", async () => {
  const parent = spawn(process.execPath, [fileURLToPath(new URL("badParent.ts", import.meta.url))], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [said] = (await once(parent.stdout, "data")) as [Buffer];
  const pid = Number(said.toString());
  await sleep(300);
  expect(isRunning(pid)).toBe(true);
  parent.kill("SIGKILL");
  await until(() => !isRunning(pid));
});
