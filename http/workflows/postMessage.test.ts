import { expect, test } from "vitest";
import { createAwaitDelivery } from "./postMessage.ts";

/** Deliveries by stream, and the streams that were looked at. */
function open() {
  const delivered = new Map<string, object>();
  const recent = new Map<string, object>();
  const looks: string[] = [];
  let hint = (): void => {};
  const closing = new AbortController();
  const awaitDelivery = createAwaitDelivery({
    closing: closing.signal,
    onCommitted: (listener: () => void) => void (hint = listener),
    log: {
      recentData: (stream: string, version: number) => (version === 2 ? recent.get(stream) : undefined),
      async publicData(stream: string, version: number) {
        looks.push(`${stream} ${version}`);
        return delivered.get(stream);
      },
    },
  } as never);
  return { awaitDelivery, delivered, recent, looks, closing, hint: () => hint() };
}

test("concurrent requests each get their own delivery, and one that was found is not read again", async () => {
  const { awaitDelivery, delivered, looks, closing, hint } = open();
  const both = [awaitDelivery("o", "a"), awaitDelivery("o", "b")];
  await expect.poll(() => looks).toContain("message-b 2");
  delivered.set("message-b", { reached: 2 });
  hint();
  expect(await both[1]).toEqual({ reached: 2 });
  const found = looks.lastIndexOf("message-b 2");
  delivered.set("message-a", { reached: 0, refused_for: 3 });
  hint();
  expect(await both[0]).toEqual({ reached: 0, refused_for: 3 });
  expect(looks.lastIndexOf("message-b 2")).toBe(found);

  const given = awaitDelivery("o", "c");
  closing.abort();
  expect(await given).toBeUndefined();
});

test("a delivery by this process is not read from the log", async () => {
  const { awaitDelivery, recent, looks, closing, hint } = open();
  const waiting = [awaitDelivery("o", "a"), awaitDelivery("o", "b")];
  await expect.poll(() => looks).toContain("message-b 2");
  recent.set("message-a", { reached: 1 });
  hint();
  expect(await waiting[0]).toEqual({ reached: 1 });
  closing.abort();
  expect(await waiting[1]).toBeUndefined();
});

test("a request does not wait while a thousand of its organization do, and those of others still wait", async () => {
  const { awaitDelivery, delivered, closing, hint } = open();
  const waiting = Array.from({ length: 1_000 }, (_, n) => awaitDelivery("o", String(n)));
  delivered.set("message-more", { reached: 1 });
  expect(await awaitDelivery("o", "more")).toBeUndefined();
  expect(await awaitDelivery("other", "more")).toEqual({ reached: 1 });
  delivered.set("message-0", { reached: 2 });
  hint();
  expect(await waiting[0]).toEqual({ reached: 2 });
  expect(await awaitDelivery("o", "more")).toEqual({ reached: 1 });
  closing.abort();
  await Promise.all(waiting);
});
