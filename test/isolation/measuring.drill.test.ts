import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { LAUNCHER } from "../launcher.ts";
import { findDelays, limitsBeside, MAX_CALLBACK_MS, QUIET_MS } from "./delays.ts";
import { openStage, type Stage } from "./stage.ts";

/* The drills of this folder see what they look for: a planted hold of the event loop. */

describe.each([
  ["one process", false],
  ["a process for each role", true],
])("in %s", (_, isApart) => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage({ isApart });
  });

  test("each process has the flags and the allocator with which the launcher starts the service", async () => {
    const wanted = [...LAUNCHER.flags, ...Object.entries(LAUNCHER.env).map(([name, value]) => `${name}=${value}`)];
    for (const started of await stage.deployment.startedWith()) expect(started).toEqual(expect.arrayContaining(wanted));
  });

  test("a callback that computes for 60 ms is reported in each process, whatever else the machine does", async () => {
    const { deployment, bystander } = stage;
    for (const role of deployment.roles) {
      await deployment.watchLoop();
      await deployment.longestDelays();
      // the metric compares the times of two ticks, and forgets the last one when it is read
      await sleep(100);
      deployment.hold(MAX_CALLBACK_MS + 10, role);
      await bystander.watch(() => sleep(200));
      expect((await deployment.longestDelays())[role]).toBeGreaterThan(MAX_CALLBACK_MS / 1_000 - 0.015);
      const [longest] = await deployment.heldCallbacks();
      expect(longest?.kind).toBe("Immediate");
      expect(longest!.places.join()).toContain("hold test/isolation/loopMonitor.ts");
      expect(longest!.own_ms).toBeGreaterThanOrEqual(MAX_CALLBACK_MS);
    }
  });

  test("a delay of another organization is detected", async () => {
    const { deployment, bystander } = stage;
    const limits = limitsBeside(await bystander.watch(() => sleep(QUIET_MS)));
    const experience = await bystander.watch(() => {
      deployment.hold(2 * limits.turn_ms, deployment.roles.at(-1));
      return sleep(limits.turn_ms);
    });
    expect(findDelays(experience, limits)).toContainEqual(expect.stringMatching("turns at p99"));
  });
});
