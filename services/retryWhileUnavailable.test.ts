import { afterEach, expect, test, vi } from "vitest";
import { StorageFull } from "#events/ports.ts";
import { retryWhileDiskFull } from "./retryWhileUnavailable.ts";

afterEach(() => vi.useRealTimers());

test("a write waits for space, but not for ever, and other errors are thrown at once", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "performance"] });
  let writes = 0;
  const late = retryWhileDiskFull(async () => {
    writes += 1;
    if (writes < 4) throw new StorageFull("full");
    return "stored";
  });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await late).toBe("stored");
  const never = retryWhileDiskFull(() => Promise.reject(new StorageFull("full")));
  const refused = expect(never).rejects.toThrow(StorageFull);
  await vi.advanceTimersByTimeAsync(70_000);
  await refused;
  await expect(retryWhileDiskFull(() => Promise.reject(new Error("other")))).rejects.toThrow("other");
});
