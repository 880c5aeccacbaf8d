import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { endsInTime } from "./endsInTime.ts";

const silent = new Promise<void>(() => {});

test("work may last until it is stopped, and a limited time afterwards", async () => {
  const stopping = new AbortController();
  let isOver = false;
  const waiting = endsInTime(silent, stopping.signal, 20).finally(() => (isOver = true));
  await sleep(60);
  expect(isOver).toBe(false);
  stopping.abort();
  expect(await waiting).toBe(false);
  expect(await endsInTime(silent, AbortSignal.abort(), 20)).toBe(false);
});

test("work that ends in time needs no further time, and its error is thrown", async () => {
  const stopping = new AbortController();
  expect(await endsInTime(Promise.resolve(), stopping.signal, 3_600_000)).toBe(true);
  const broken = endsInTime(Promise.reject(new Error("broken")), stopping.signal, 3_600_000);
  await expect(broken).rejects.toThrow("broken");
  expect(await endsInTime(Promise.resolve(), AbortSignal.abort(), 3_600_000)).toBe(true);
});
