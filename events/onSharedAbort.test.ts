import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { onSharedAbort } from "./onSharedAbort.ts";

test("many waits for one signal are one listener of it, and each is called once, unless it was removed", () => {
  const aborter = new AbortController();
  const called: number[] = [];
  const removals = Array.from({ length: 100 }, (_, n) => onSharedAbort(aborter.signal, () => called.push(n)));
  expect(getEventListeners(aborter.signal, "abort")).toHaveLength(1);
  for (const remove of removals.slice(0, 98)) remove();
  aborter.abort();
  aborter.abort();
  expect(called).toEqual([98, 99]);
});

test("a listener may remove itself and others while it is called, and one that comes too late is not called", () => {
  const aborter = new AbortController();
  const called: string[] = [];
  const removeFirst = onSharedAbort(aborter.signal, () => {
    called.push("first");
    removeFirst();
    removeSecond();
  });
  const removeSecond = onSharedAbort(aborter.signal, () => called.push("second"));
  aborter.abort();
  onSharedAbort(aborter.signal, () => called.push("late"));
  expect(called).toEqual(["first"]);
});
