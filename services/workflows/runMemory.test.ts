import { expect, test } from "vitest";
import { createRunMemory, type RunRoom } from "./runMemory.ts";

const KIB = 1024;
const never = new AbortController().signal;

/** Four organizations have 2,000,000 units each. */
const open = () => createRunMemory(16);

/** Whether it resolves without further events. */
async function isReady(work: Promise<unknown>): Promise<boolean> {
  let ready = false;
  void work.then(() => (ready = true));
  for (let n = 0; n < 3; n++) await new Promise(setImmediate);
  return ready;
}
/** Asks for room that there is not, and waits for it. */
function waitFor(room: RunRoom, size: number, stopping = never, isPartial = false): Promise<boolean> {
  expect(room.fits(size)).toBe(false);
  return room.wait(stopping, isPartial);
}

test("small runs take nothing, and a run takes more as it grows, in few steps", () => {
  const memory = open();
  const room = memory.open("a");
  expect([room.fits(64 * KIB), memory.usage().bytes]).toEqual([true, 0]);
  expect([room.fits(65 * KIB), memory.usage().bytes]).toEqual([true, 2 * 128 * KIB]);
  expect([room.fits(128 * KIB), memory.usage().bytes]).toEqual([true, 2 * 128 * KIB]);
  expect([room.fits(500 * KIB), memory.usage().bytes]).toEqual([true, 2 * 512 * KIB]);
  room.shrink(200 * KIB);
  expect(memory.usage().bytes).toBe(2 * 256 * KIB);
  room.close();
  expect(memory.usage()).toEqual({ bytes: 0, waiting: 0 });
});

test("a run without room waits for another one of its organization, while those of others have room", async () => {
  const memory = open();
  const [first, second, other] = [memory.open("a"), memory.open("a"), memory.open("b")];
  expect([first.fits(1_000 * KIB), second.fits(500 * KIB)]).toEqual([true, true]);
  const waiting = waitFor(second, 1_000 * KIB);
  expect([await isReady(waiting), memory.usage()]).toEqual([false, { bytes: 2 * 1_024 * KIB, waiting: 1 }]);
  expect([first.isWanted(), second.isWanted(), other.isWanted(), memory.open("a").isWanted()]).toEqual([
    true,
    false,
    false,
    false,
  ]);
  expect(other.fits(1_000 * KIB)).toBe(true);
  first.close();
  expect([await waiting, second.isFull(), second.fits(1_000 * KIB)]).toEqual([true, false, true]);
});

test("a run that is larger than the share waits until it is alone, and then holds whatever it needs", async () => {
  const memory = open();
  const [small, huge] = [memory.open("a"), memory.open("a")];
  small.fits(100 * KIB);
  const waiting = waitFor(huge, 40_000 * KIB);
  expect(await isReady(waiting)).toBe(false);
  small.close();
  await waiting;
  expect(huge.fits(100_000 * KIB)).toBe(true);
  huge.shrink(100_000 * KIB);
  expect(memory.usage().bytes).toBe(4_000_000);
});

test("while a run waits, no other one of its organization grows, so that a large run gets its room", async () => {
  const memory = open();
  const [running, large] = [memory.open("a"), memory.open("a")];
  running.fits(100 * KIB);
  const waiting = waitFor(large, 1_900 * KIB);
  expect([running.fits(128 * KIB), running.fits(129 * KIB), running.isFull()]).toEqual([true, false, true]);
  running.close();
  expect(await waiting).toBe(true);
});

test("a run that is read in part asks for several times that, so that it is read again only a few times", async () => {
  const memory = open();
  const [first, second] = [memory.open("a"), memory.open("a")];
  first.fits(1_500 * KIB);
  const waiting = waitFor(second, 70 * KIB, never, true);
  first.close();
  await waiting;
  expect(memory.usage().bytes).toBe(2 * 512 * KIB);
});

test("a run waits no longer when its process stops", async () => {
  const memory = open();
  const [first, second] = [memory.open("a"), memory.open("a")];
  first.fits(1_500 * KIB);
  const stop = new AbortController();
  const waiting = waitFor(second, 70 * KIB, stop.signal);
  stop.abort();
  expect([await waiting, memory.usage().waiting]).toEqual([false, 0]);
  second.close();
  first.close();
  expect(memory.usage().bytes).toBe(0);
});

test("a process takes no further runs of an organization while 50 wait", async () => {
  const memory = open();
  memory.open("a").fits(2_000 * KIB);
  for (let n = 0; n < 49; n++) void waitFor(memory.open("a"), 100 * KIB);
  expect(memory.hasRoom("a")).toBe(true);
  void waitFor(memory.open("a"), 100 * KIB);
  expect([memory.hasRoom("a"), memory.hasRoom("b")]).toEqual([false, true]);
});

test("eight runs of an organization are read from the log at the same time, and others are read beside them", async () => {
  const memory = open();
  const started: string[] = [];
  const end = Promise.withResolvers<void>();
  const read = (organization: string) =>
    memory.read(organization, async () => {
      started.push(organization);
      await end.promise;
    });
  const reads = "aaaaaaaaaab".split("").map(read);
  while (!started.includes("b")) await new Promise(setImmediate);
  expect(started.join("")).toBe("aaaaaaaab");
  end.resolve();
  await Promise.all(reads);
  expect(started).toHaveLength(11);
});
