import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { NO_USAGE } from "#events/thread.ts";
import { askTargets, type OpenModel } from "./askTargets.ts";
import { circuitKey, createCircuits, type Circuits } from "./circuits.ts";
import type { ModelRequest } from "./model.ts";

/** Asks an alias of `p/a` and `p/b`. `answer`: resolves when a target answers. `onCounted`: called when a request is counted. */
function ask(circuits: Circuits, answer: (target: string) => Promise<void>, onCounted = (_target: string) => {}) {
  const openModel = (target: string): OpenModel => ({
    model: {
      async *complete() {
        await answer(target);
        yield { type: "text", text: "Hi" };
        yield { type: "finish", finish_reason: "stop", usage: NO_USAGE };
      },
    },
    addCost: (usage) => usage,
    estimate: async () => NO_USAGE,
  });
  const targets = {
    organization_id: "o",
    alias: "fast",
    route: { targets: ["p/a", "p/b"], on: ["5xx"], timeout_seconds: 60, max_attempts: 3, max_seconds: 60 },
    failures: [],
    replaced: [],
    circuits,
    retries: (target: string) => ({ count: () => onCounted(target), take: () => true }),
    streamed: false,
    lastAsked: undefined,
    estimate: async () => NO_USAGE,
    // reads its credential
    open: async (target: string) => {
      await setImmediate();
      return openModel(target);
    },
    recordFailure: async () => {},
    onCredentialRefused: () => {},
  };
  const request = { messages: [] } as unknown as ModelRequest;
  const { signal } = new AbortController();
  return askTargets(targets, { request, round: 0, first: undefined, signal, onFrame: () => {} });
}

test("of many turns at once, one probes a target that was silent, and the others ask the next one", async () => {
  let now = 0;
  const circuits = createCircuits({ now: () => now });
  circuits.begin(circuitKey("o", "p/a"))("slow");
  now += 16_000;
  const asked: string[] = [];
  const silence = Promise.withResolvers<void>();
  const answer = async (target: string) => {
    asked.push(target);
    if (target === "p/a") await silence.promise;
  };
  const counted: string[] = [];
  const answers = Array.from({ length: 10 }, () => ask(circuits, answer, (target) => counted.push(target)));
  await expect.poll(() => asked.length).toBe(10);
  expect(asked.filter((target) => target === "p/a")).toHaveLength(1);
  expect(counted.toSorted()).toEqual(asked.toSorted());
  silence.resolve();
  const models = (await Promise.all(answers)).map(({ model }) => model);
  expect(models.toSorted()).toEqual(["p/a", ...Array(9).fill("p/b")]);
});

test("a turn of which all targets are silent fails at once, and says when one is asked again", async () => {
  const circuits = createCircuits();
  for (const target of ["p/a", "p/b"]) circuits.begin(circuitKey("o", target))("slow");
  const failed = await ask(circuits, async () => {}).catch((error: Error) => error.cause);
  expect(failed).toMatchObject({
    kind: "transient",
    message: "All targets of the alias fast were silent when they were last asked. One is asked again in 15 s.",
  });
  const { retry_after_ms } = failed as { retry_after_ms: number };
  expect([retry_after_ms > 13_000, retry_after_ms <= 15_000]).toEqual([true, true]);
});
