import { beforeEach, describe, expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { Unavailable } from "#events/ports.ts";
import type { PlainWorkflow } from "../doubles/plainRunner.ts";
import { SOON, counters, namedGates, openCoordinators, resultOf, typesOf } from "./harness.ts";

/* A coordinator whose database or blobs are unavailable for a while continues what it has begun. */

const LARGE = 100_000;
const { counted, count } = counters();
const gate = namedGates();

const workflows: Record<string, PlainWorkflow> = {
  waits: {
    run: async (ctx, { id }) => ctx.complete(await ctx.runStep("wait", { id })),
    steps: {
      async wait({ id }) {
        count(`began ${id}`);
        await gate(id).opened;
        return count(`ended ${id}`);
      },
    },
  },
  large: {
    async run(ctx, { id }) {
      const text: string = await ctx.runStep("write", { id });
      return ctx.complete(text.length);
    },
    steps: {
      write({ id }) {
        count(`began ${id}`);
        return "x".repeat(LARGE);
      },
    },
  },
};

/** Calls that still fail. */
const failing = { heads: 0, blobs: 0 };
const failsNow = (what: keyof typeof failing): boolean => failing[what] > 0 && failing[what]-- > 0;

const bench = await openCoordinators(workflows, {
  change: ({ log, vault }) => ({
    log: {
      ...log,
      heads: (streams) =>
        failsNow("heads") ? Promise.reject(new Unavailable("The database is away.")) : log.heads(streams),
    },
    vault: {
      ...vault,
      put: (...asked) => (failsNow("blobs") ? Promise.reject(new Error("no space left")) : vault.put(...asked)),
    },
  }),
});
beforeEach(() => Object.assign(failing, { heads: 0, blobs: 0 }));

describe("a step that has begun", () => {
  test("continues while the database is unavailable, and is not retried", async () => {
    const id = newId();
    const run = await bench.start("waits", { id });
    await expect.poll(() => counted.get(`began ${id}`), SOON).toBe(1);
    failing.heads = 2;
    await expect.poll(() => failing.heads, SOON).toBe(0);
    gate(id).open();
    const events = await bench.until(run, "RunCompleted");
    expect(typesOf(events).slice(-3)).toEqual(["StepStarted", "StepCompleted", "RunCompleted"]);
    expect(resultOf(events)).toBe(1);
    expect(counted.get(`began ${id}`)).toBe(1);
  });
  test("is not retried because its result could not be stored at once", async () => {
    const id = newId();
    failing.blobs = 2;
    const events = await bench.until(await bench.start("large", { id }), "RunCompleted");
    expect(resultOf(events)).toBe(LARGE);
    expect(failing.blobs).toBe(0);
    expect(counted.get(`began ${id}`)).toBe(1);
    expect(typesOf(events)).not.toContain("StepAttemptFailed");
  });
});
