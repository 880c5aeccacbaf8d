import Fastify, { type FastifyReply } from "fastify";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { App } from "./app.ts";
import {
  countWait,
  runOutsideRequest,
  readTimeLeft,
  requestAge,
  trackRequestTime,
  liftTimeLimit,
  waitInQueue,
} from "./requestTime.ts";

let app: App;
beforeEach(() => {
  app = Fastify();
  trackRequestTime(app);
  app.addHook("onRequest", async (request, reply: FastifyReply) => {
    Object.defineProperty(reply, "elapsedTime", { value: Number((request.query as { age: string }).age) });
  });
  const answer = async () => ({ age: requestAge(), left: readTimeLeft() });
  app.get("/", answer);
  app.post("/", answer);
  app.get("/queue", async () => (await waitInQueue(async () => void vi.advanceTimersByTime(2_500)), answer()));
  app.post("/turn", async () => (liftTimeLimit(), answer()));
  app.post("/waits", async () => {
    const wait = async () => void vi.advanceTimersByTime(100);
    await countWait(() => Promise.all([countWait(wait), countWait(wait)]));
    vi.advanceTimersByTime(1_000);
    return { age: await countWait(async () => (await wait(), requestAge())), outside: runOutsideRequest(requestAge) };
  });
});
afterEach(() => {
  vi.useRealTimers();
  return app.close();
});

async function at(method: "GET" | "POST", path: string, age: number): Promise<any> {
  return JSON.parse((await app.inject({ method, url: `${path}?age=${age}` })).body);
}

test("reads of a young request share 4 s, and a late read gets 700 ms", async () => {
  expect(await at("POST", "/", 0)).toEqual({ age: 0, left: 4_000 });
  expect(await at("POST", "/", 1_500)).toEqual({ age: 1_500, left: 2_500 });
  expect(await at("GET", "/", 3_900)).toEqual({ age: 3_900, left: 700 });
  expect(await at("POST", "/", 4_999)).toEqual({ age: 4_999, left: 700 });
});

test("a wait behind other requests of the organization leaves the reads after it their time", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  expect(await at("GET", "/queue", 3_000)).toEqual({ age: 500, left: 3_500 });
});

test("a write older than 5 s counts only its waits for the stores, and overlapping waits once", async () => {
  expect(await at("POST", "/", 5_000)).toEqual({ age: 0, left: 4_000 });
  vi.useFakeTimers({ toFake: ["performance"] });
  expect(await at("POST", "/waits", 600_000)).toEqual({ age: 300, outside: 0 });
});

test("reads of an old GET, of a queued request and outside a request get the full time", async () => {
  expect(await at("GET", "/", 5_000)).toEqual({ age: 0, left: 4_000 });
  expect(await at("POST", "/turn", 3_900)).toEqual({ age: 0, left: 4_000 });
  expect([requestAge(), readTimeLeft()]).toEqual([0, 4_000]);
});
