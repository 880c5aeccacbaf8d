import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { NO_USAGE } from "#events/thread.ts";
import { askTargets, type OpenModel, type Targets } from "./askTargets.ts";
import { circuitKey, createCircuits } from "./circuits.ts";
import type { ModelRequest } from "./model.ts";

const route = { targets: ["p/a", "p/b"], on: ["5xx"], timeout_seconds: 60, max_attempts: 3, max_seconds: 60 };

test("of many turns at once, one probes a target that was silent, and the others ask the next one", async () => {
  let now = 0;
  const circuits = createCircuits({ now: () => now });
  circuits.begin(circuitKey("o", "p/a"))("slow");
  now += 16_000;
  const asked: string[] = [];
  const silence = Promise.withResolvers<void>();
  const openModel = (target: string): OpenModel => ({
    model: {
      async *complete() {
        asked.push(target);
        if (target === "p/a") await silence.promise;
        yield { type: "text", text: "Hi" };
        yield { type: "finish", finish_reason: "stop", usage: NO_USAGE };
      },
    },
    addCost: (usage) => usage,
    estimate: async () => NO_USAGE,
  });
  const ask = () => {
    const targets: Targets = {
      organization_id: "o",
      alias: "fast",
      route,
      failures: [],
      replaced: [],
      circuits,
      retries: () => ({ count: () => {}, take: () => true }),
      streamed: false,
      lastAsked: undefined,
      estimate: async () => NO_USAGE,
      // reads its credential
      open: async (target) => {
        await setImmediate();
        return openModel(target);
      },
      recordFailure: async () => {},
      onCredentialRefused: () => {},
    };
    const request = { messages: [] } as unknown as ModelRequest;
    const { signal } = new AbortController();
    return askTargets(targets, { request, round: 0, first: undefined, signal, onFrame: () => {} });
  };
  const answers = Array.from({ length: 10 }, ask);
  await expect.poll(() => asked.length).toBe(10);
  expect(asked.filter((target) => target === "p/a")).toHaveLength(1);
  silence.resolve();
  const models = (await Promise.all(answers)).map(({ model }) => model);
  expect(models.toSorted()).toEqual(["p/a", ...Array(9).fill("p/b")]);
});
