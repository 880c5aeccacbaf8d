import Fastify, { type FastifyReply } from "fastify";
import { afterEach, expect, test } from "vitest";
import { readTimeLeft, trackReadTime } from "./readTime.ts";

const app = Fastify();
afterEach(() => app.close());

test("reads share the 4 s of a young request, a late one has a little, and a stream's or a waiting turn's has all of it", async () => {
  trackReadTime(app);
  app.addHook("onRequest", async (request, reply: FastifyReply) => {
    Object.defineProperty(reply, "elapsedTime", { value: Number((request.query as { age: string }).age) });
  });
  app.get("/", async () => readTimeLeft());
  const leftAt = async (age: number): Promise<number> => JSON.parse((await app.inject(`/?age=${age}`)).body);
  expect(await leftAt(0)).toBe(4_000);
  expect(await leftAt(1_500)).toBe(2_500);
  expect(await leftAt(3_900)).toBe(700);
  expect(await leftAt(4_999)).toBe(700);
  expect(await leftAt(5_000)).toBe(4_000);
  expect(await leftAt(600_000)).toBe(4_000);
  expect(readTimeLeft()).toBe(4_000);
});
