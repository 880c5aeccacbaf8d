import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { createSharedRuns } from "./sharedRuns.ts";

/** Work that begins at once and waits. `begun` are the runs so far. */
function openWork() {
  const begun: PromiseWithResolvers<void>[] = [];
  const work = (begin: () => void): Promise<void> => {
    begin();
    const run = Promise.withResolvers<void>();
    begun.push(run);
    return run.promise;
  };
  return { begun, work };
}

test("calls share a run that has not begun, and none that has: it may miss what they did", async () => {
  const share = createSharedRuns();
  const { begun, work } = openWork();
  const first = [share("one", work), share("one", work)];
  await setImmediate();
  expect(begun).toHaveLength(1);
  const later = [share("one", work), share("one", work), share("one", work)];
  await setImmediate();
  expect(begun).toHaveLength(1);
  begun[0]!.resolve();
  await Promise.all(first);
  await setImmediate();
  expect(begun).toHaveLength(2);
  begun[1]!.resolve();
  await Promise.all(later);
});

test("a run that fails fails its calls, and not those of the next one", async () => {
  const share = createSharedRuns();
  const { begun, work } = openWork();
  const failing = [share("one", work), share("one", work)].map((call) => expect(call).rejects.toThrow("read-only"));
  await setImmediate();
  const next = share("one", work);
  begun[0]!.reject(new Error("read-only"));
  await Promise.all(failing);
  await setImmediate();
  begun[1]!.resolve();
  await next;
});

test("keys do not wait for each other", async () => {
  const share = createSharedRuns();
  const { begun, work } = openWork();
  const calls = [share("one", work), share("other", work)];
  await setImmediate();
  expect(begun).toHaveLength(2);
  for (const run of begun) run.resolve();
  await Promise.all(calls);
});
