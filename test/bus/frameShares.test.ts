import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import type { Frame } from "#events/ports.ts";
import { MIB } from "#events/units.ts";
import { testBus } from "#test/harness.ts";
import { openBus, until } from "./bus.ts";

const server = testBus();
const frame = (n: number, length: number): Frame => ({ attempt: 1, n, type: "text", text: "x".repeat(length) });

test("an organization that fills the frame stream loses its own oldest frames, and those of another one stay", async () => {
  const bus = await openBus({ ...server, limits: { frames_max_bytes: 8 * MIB } });
  const [small, large] = [newId(), newId()];
  const [turn, long] = [newId(), newId()];
  for (let n = 0; n < 20; n += 1) bus.frames.publish(small, turn, frame(n, 1_000));
  await until(async () => (await bus.frames.loadFrames(small, turn)).length === 20);
  // three times what the stream holds, in waves that leave time to look at it
  for (let n = 0; n < 1_200; n += 1) {
    bus.frames.publish(large, long, frame(n, 20_000));
    if (n % 10 === 9) await bus.frames.loadFrames(large, newId());
  }
  const retained = await bus.frames.loadFrames(large, long);
  expect(retained.length).toBeLessThan(420);
  expect(retained.length).toBeGreaterThan(200);
  expect(retained.at(-1)?.n).toBe(1_199);
  expect(await bus.frames.loadFrames(small, turn)).toHaveLength(20);
});
