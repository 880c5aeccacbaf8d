import { setTimeout as sleep } from "node:timers/promises";
import fastify from "fastify";
import { afterEach, expect, test } from "vitest";
import { Unavailable } from "#events/ports.ts";
import { createFairSemaphore } from "#services/sharing/fairSemaphore.ts";
import { admitInTurns, afterIdle } from "./admitRequests.ts";
import type { App } from "./app.ts";

let app: App | undefined;
afterEach(async () => {
  await app?.close();
});

/** A server with three places, two of them for one owner. A request ends when the test ends it. */
function stage(maxWaitMs?: number, maxWaiting?: number) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  app = fastify() as App;
  app.decorateRequest("caller", null as never);
  admitInTurns(app, { requestPlaces: createFairSemaphore({ total: 3, perTenant: 2 }) }, maxWaitMs, maxWaiting);
  app.setErrorHandler((error, _, reply) => reply.code(error instanceof Unavailable ? 503 : 500).send("refused"));
  app.addHook("onRequest", async (request) => {
    const { owner } = request.params as { owner: string };
    request.caller = { organization_id: owner } as never;
  });
  app.get("/:owner/:name", async (request) => {
    const { name } = request.params as { name: string };
    begun.push(name);
    if (name.startsWith("waits")) request.onlyWaits();
    await new Promise<void>((resolve) => ends.set(name, resolve));
    return "done";
  });
  const send = (owner: string, name: string) => {
    const answer = app!.inject(`/${owner}/${name}`);
    return answer.then(({ body }) => body);
  };
  return { begun, send, end: (name: string) => ends.get(name)!() };
}

test("a request overtakes requests of another organization that wait for that organization's own share", async () => {
  const { begun, send, end } = stage();
  const answers = [...["a1", "a2", "a3", "a4"].map((name) => send("a", name)), send("b", "b1")];
  await expect.poll(() => begun).toHaveLength(5);
  expect(begun).toEqual(["a1", "a2", "b1", "a3", "a4"]);
  for (const name of begun) end(name);
  expect(await Promise.all(answers)).toEqual(Array.from({ length: 5 }, () => "done"));
});

test("a long-running request gives its place to the next one", async () => {
  const { begun, send, end } = stage();
  const answers = ["a1", "a2", "a3"].map((name) => send("a", name));
  await expect.poll(() => begun).toEqual(["a1", "a2", "a3"]);
  for (const name of begun) end(name);
  await Promise.all(answers);
});

test("a request that waits too long for a place is refused and does not block the next one", async () => {
  const { begun, send, end } = stage(30);
  const answers = ["a1", "a2"].map((name) => send("a", name));
  await expect.poll(() => begun).toEqual(["a1", "a2"]);
  expect(await send("a", "a3")).toBe("refused");
  for (const name of ["a1", "a2"]) end(name);
  expect(await Promise.all(answers)).toEqual(["done", "done"]);
  const last = send("a", "a4");
  await expect.poll(() => begun).toEqual(["a1", "a2", "a4"]);
  end("a4");
  expect(await last).toBe("done");
});

test("a request is refused at once if too many of its organization are waiting", async () => {
  const { begun, send, end } = stage(undefined, 2);
  const sent = ["a1", "a2", "a3", "a4", "a5"].map((name) => send("a", name));
  const others = send("b", "b1");
  expect(await sent[4]).toBe("refused");
  await expect.poll(() => begun).toHaveLength(5);
  for (const name of begun) end(name);
  expect(await Promise.all([...sent, others])).toEqual(["done", "done", "done", "done", "refused", "done"]);
});

test("a request that reports that it only waits does not take a place", async () => {
  const { begun, send, end } = stage();
  const names = Array.from({ length: 100 }, (_, n) => `waits ${n}`);
  const answers = names.map((name) => send("a", name));
  await expect.poll(() => begun).toEqual(names);
  for (const name of begun) end(name);
  await Promise.all(answers);
});

test("a request counts as keeping the event loop busy until the loop has been idle long enough", async () => {
  let [idle, called] = [0, 0];
  afterIdle(
    10,
    60_000,
    () => (called += 1),
    () => idle,
  );
  await sleep(50);
  expect(called).toBe(0);
  idle = 10;
  await expect.poll(() => called).toBe(1);
});

test("an answered request no longer counts", async () => {
  let called = 0;
  afterIdle(10, 60_000, () => (called += 1)).cancel();
  await sleep(50);
  expect(called).toBe(0);
});

test("a request in a loop that is never idle counts only for a limited time", async () => {
  let called = 0;
  afterIdle(
    10,
    20,
    () => (called += 1),
    () => 0,
  );
  await expect.poll(() => called).toBe(1);
});
