import { expect, test } from "vitest";
import { createAwaitDelivery } from "./postMessage.ts";

test("concurrent requests each get their own delivery, and one that was found is not read again", async () => {
  const delivered = new Map<string, object>();
  const looks: string[] = [];
  let hint = (): void => {};
  const closing = new AbortController();
  const awaitDelivery = createAwaitDelivery({
    closing: closing.signal,
    onCommitted: (listener: () => void) => void (hint = listener),
    log: {
      async publicData(stream: string, version: number) {
        looks.push(`${stream} ${version}`);
        return delivered.get(stream);
      },
    },
  } as never);

  const both = [awaitDelivery("a"), awaitDelivery("b")];
  await expect.poll(() => looks).toContain("message-b 2");
  delivered.set("message-b", { reached: 2 });
  hint();
  expect(await both[1]).toEqual({ reached: 2 });
  const found = looks.lastIndexOf("message-b 2");
  delivered.set("message-a", { reached: 0, refused_for: 3 });
  hint();
  expect(await both[0]).toEqual({ reached: 0, refused_for: 3 });
  expect(looks.lastIndexOf("message-b 2")).toBe(found);

  const given = awaitDelivery("c");
  closing.abort();
  expect(await given).toBeUndefined();
});
