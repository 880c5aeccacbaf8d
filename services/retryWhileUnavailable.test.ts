import { afterEach, expect, test, vi } from "vitest";
import { StorageFull, Unavailable } from "#events/ports.ts";
import { retryWhileDiskFull, retryWhileUnavailable } from "./retryWhileUnavailable.ts";

afterEach(() => vi.useRealTimers());

test("a write waits for space, but not forever, and other errors are thrown at once", async () => {
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

test("work that waits for a server ends when its process is asked to end", async () => {
  const stopping = new AbortController();
  let tries = 0;
  const away = async () => {
    if (++tries === 2) stopping.abort(new Error("asked to end"));
    throw new Unavailable("away");
  };
  await expect(retryWhileUnavailable(away, stopping.signal)).rejects.toThrow("asked to end");
  expect(tries).toBe(2);
});
