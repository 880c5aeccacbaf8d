import { expect, test } from "vitest";
import { createSerializer } from "./serialize.ts";

test("work of one key runs in order, also after a failure, and does not delay other keys", async () => {
  const serialize = createSerializer();
  const order: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = serialize("a", async () => {
    await gate.promise;
    order.push("first");
    throw new Error("first failed");
  });
  const second = serialize("a", async () => order.push("second"));
  await serialize("b", async () => order.push("other key"));
  gate.resolve();
  await expect(first).rejects.toThrow("first failed");
  await second;
  expect(order).toEqual(["other key", "first", "second"]);
});
