import Fastify, { type FastifyReply } from "fastify";
import { afterEach, expect, test, vi } from "vitest";
import { requestAge, trackRequestTime } from "#http/base/requestTime.ts";
import { createReadRunner } from "./requestReads.ts";

const app = Fastify();
afterEach(() => {
  vi.useRealTimers();
  return app.close();
});

test("a write older than 5 s has waited for as long as its reads took", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const read = createReadRunner((work) => work());
  trackRequestTime(app);
  app.addHook("onRequest", async (_request, reply: FastifyReply) => {
    Object.defineProperty(reply, "elapsedTime", { value: 6_000 });
  });
  app.post("/", async () => {
    await read(async () => void vi.advanceTimersByTime(3_000));
    vi.advanceTimersByTime(2_000);
    await read(async () => void vi.advanceTimersByTime(1_000));
    return { age: requestAge() };
  });
  expect((await app.inject({ method: "POST", url: "/" })).json()).toEqual({ age: 4_000 });
});
