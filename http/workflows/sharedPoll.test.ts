import Fastify, { type FastifyReply } from "fastify";
import { describe, expect, it } from "vitest";
import { requestAge, trackRequestTime } from "../base/requestTime.ts";
import { createSharedPoll, type Waiter } from "./sharedPoll.ts";

const FOREVER = new AbortController().signal;

function open(poll: (waiters: Waiter<{ id: number }>[]) => Promise<void>) {
  let hint = () => {};
  const polls: number[][] = [];
  const waitFor = createSharedPoll<{ id: number }>(
    (listener) => (hint = listener),
    async (waiters) => {
      polls.push(waiters.map(({ id }) => id));
      await poll(waiters);
    },
  );
  return { waitFor, polls, hint: () => hint() };
}

describe("a shared poll", () => {
  it("asks once for all waiters and releases those whose wait is over", async () => {
    const { waitFor, polls } = open(async (waiters) => {
      for (const waiter of waiters) if (polls.length > 1 || waiter.id === 1) waiter.done();
    });
    await Promise.all([1, 2, 3].map((id) => waitFor({ id }, FOREVER)));
    expect(polls.flat().filter((id) => id === 2).length).toBeLessThanOrEqual(polls.length);
    expect(polls.at(-1)).toEqual([2, 3]);
    expect(polls.length).toBeLessThanOrEqual(3);
  });

  it("does not spend the time of the request that started it", async () => {
    const ages: number[] = [];
    const { waitFor } = open(async (waiters) => {
      ages.push(requestAge());
      for (const waiter of waiters) waiter.done();
    });
    const app = Fastify();
    trackRequestTime(app);
    app.addHook("onRequest", async (_request, reply: FastifyReply) => {
      Object.defineProperty(reply, "elapsedTime", { value: 2_000 });
    });
    app.get("/", async () => {
      await waitFor({ id: 1 }, FOREVER);
      return { age: requestAge() };
    });
    const { age } = (await app.inject("/")).json();
    expect(ages).toEqual([0]);
    expect(age).toBe(2_000);
    await app.close();
  });

  it("polls again at a hint, long before the next regular poll", async () => {
    const timeOnce = async (): Promise<number> => {
      let isReady = false;
      const { waitFor, hint } = open(async (waiters) => {
        if (isReady) for (const { done } of waiters) done();
      });
      const started = performance.now();
      const waiting = waitFor({ id: 1 }, FOREVER);
      setTimeout(() => {
        isReady = true;
        hint();
      }, 50);
      await waiting;
      return performance.now() - started;
    };
    // the regular poll comes after 500 ms; a busy machine may delay one of them for as long
    await expect.poll(timeOnce).toBeLessThan(400);
  });

  it("repeats a poll that fails", async () => {
    let failures = 0;
    const { waitFor } = open(async (waiters) => {
      if (failures++ < 1) throw new Error("no database");
      for (const { done } of waiters) done();
    });
    await waitFor({ id: 1 }, FOREVER);
    expect(failures).toBe(2);
  });

  it("releases a waiter whose signal is aborted, before and while it waits", async () => {
    const { waitFor, polls } = open(async () => {});
    await waitFor({ id: 1 }, AbortSignal.abort());
    expect(polls).toEqual([]);
    await waitFor({ id: 2 }, AbortSignal.timeout(20));
    expect(polls[0]).toEqual([2]);
  });
});
