import { EventEmitter } from "node:events";
import type pg from "pg";
import { expect, test } from "vitest";
import { limitQueryTime } from "./queryDeadline.ts";

type Answer = (error: Error | null, result?: unknown) => void;

/** A pool of one connection, whose query the test answers. */
function poolOfOne() {
  const client = Object.assign(new EventEmitter(), {
    query: (_query: unknown, answer: Answer) => void (answered = answer),
  });
  let answered: Answer = () => {};
  const released: (Error | undefined)[] = [];
  const connect = (take: (error: null, client: unknown, done: (error?: Error) => void) => void) =>
    take(null, client, (error) => void released.push(error));
  const pool = { waitingCount: 0, connect } as unknown as pg.Pool;
  return {
    client,
    released,
    query: limitQueryTime(pool),
    answer: (error: Error | null, result?: unknown) => answered(error, result),
  };
}

const SELECT = { text: "select 1" };

test("a server that ends during a query fails only that query", async () => {
  const { client, released, query } = poolOfOne();
  const running = query(SELECT, performance.now() + 60_000);
  const ended = new Error("terminating connection");
  client.emit("error", ended);
  await expect(running).rejects.toBe(ended);
  expect(released).toEqual([ended]);
  expect(client.listenerCount("error")).toBe(0);
});

test("an answered query returns its connection intact", async () => {
  const { client, released, query, answer } = poolOfOne();
  const running = query(SELECT, performance.now() + 60_000);
  answer(null, { rows: [1] });
  expect(await running).toEqual({ rows: [1] });
  expect(released).toEqual([undefined]);
  expect(client.listenerCount("error")).toBe(0);
});

test("a query without an answer by its deadline fails, and its connection is closed", async () => {
  const { released, query, answer } = poolOfOne();
  await expect(query(SELECT, performance.now())).rejects.toThrow("did not answer in time");
  expect(released).toEqual([expect.any(Error)]);
  answer(null, { rows: [1] });
  expect(released).toHaveLength(1);
});

test("a pool that fails to connect after the query's deadline closes no other connection", async () => {
  let giveUp = () => {};
  const connect = (take: (error: Error) => void) => void (giveUp = () => take(new Error("timeout exceeded")));
  const query = limitQueryTime({ waitingCount: 0, connect } as unknown as pg.Pool);
  await expect(query(SELECT, performance.now())).rejects.toThrow("did not answer in time");
  expect(giveUp).not.toThrow();
});
