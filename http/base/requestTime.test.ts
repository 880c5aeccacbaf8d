import Fastify, { type FastifyReply } from "fastify";
import { afterEach, expect, test } from "vitest";
import { readTimeLeft, requestAge, trackRequestTime } from "./requestTime.ts";

const app = Fastify();
afterEach(() => app.close());

test("reads share the 4 s of a young request, a late one has a little, and a stream's or a waiting turn's has all of it", async () => {
  trackRequestTime(app);
  app.addHook("onRequest", async (request, reply: FastifyReply) => {
    Object.defineProperty(reply, "elapsedTime", { value: Number((request.query as { age: string }).age) });
  });
  app.get("/", async () => ({ age: requestAge(), left: readTimeLeft() }));
  const at = async (age: number) => JSON.parse((await app.inject(`/?age=${age}`)).body) as unknown;
  expect(await at(0)).toEqual({ age: 0, left: 4_000 });
  expect(await at(1_500)).toEqual({ age: 1_500, left: 2_500 });
  expect(await at(3_900)).toEqual({ age: 3_900, left: 700 });
  expect(await at(4_999)).toEqual({ age: 4_999, left: 700 });
  expect(await at(5_000)).toEqual({ age: 0, left: 4_000 });
  expect(await at(600_000)).toEqual({ age: 0, left: 4_000 });
  expect([requestAge(), readTimeLeft()]).toEqual([0, 4_000]);
});
