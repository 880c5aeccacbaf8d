import { expect, test } from "vitest";
import { createFairQueue } from "./fairQueue.ts";

const queueOf = (...items: string[]) => {
  const queue = createFairQueue<{ organization_id: string; name: string }>();
  for (const name of items) queue.add({ organization_id: name[0]!, name });
  return queue;
};
const drained = (queue: ReturnType<typeof queueOf>) => {
  const names: string[] = [];
  for (let item = queue.next(); item; item = queue.next()) names.push(item.name);
  return names;
};

test("organizations take turns, each in its own order", () => {
  const queue = queueOf("a1", "a2", "a3", "b1", "c1", "c2");
  expect(queue.size()).toBe(6);
  expect(drained(queue)).toEqual(["a1", "b1", "c1", "a2", "c2", "a3"]);
  expect(queue.size()).toBe(0);
});

test("who comes late waits for one of each, not for all of them", () => {
  const queue = queueOf("a1", "a2", "a3");
  expect(queue.next()?.name).toBe("a1");
  queue.add({ organization_id: "b", name: "b1" });
  expect(drained(queue)).toEqual(["a2", "b1", "a3"]);
});

test("an empty queue has nothing", () => expect(queueOf().next()).toBeUndefined());
