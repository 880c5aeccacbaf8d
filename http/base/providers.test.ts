import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { createProviders } from "./providers.ts";

/** Providers of organizations whose table has a version, and the organizations that were read. */
function openProviders() {
  const state = { version: "1", read: [] as unknown[] };
  const query = async (text: string, [organization]: unknown[] = []) => {
    if (text.includes("as version")) return [{ version: state.version }] as never[];
    state.read.push(organization);
    return [] as never[];
  };
  return { state, providers: createProviders({ query }) };
}

test("providers are read again after two seconds only if the table has changed", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const { state, providers } = openProviders();
  // the version is known from now on
  await providers.readNow("other");
  await sleep(0);
  await providers.recent("one");
  await providers.recent("one");
  expect(state.read).toEqual(["other", "one"]);
  vi.advanceTimersByTime(5_000);
  // this one is read because the version is unknown now
  await providers.recent("other");
  await sleep(0);
  await providers.recent("one");
  expect(state.read).toEqual(["other", "one", "other"]);
  state.version = "2";
  vi.advanceTimersByTime(5_000);
  await providers.recent("one");
  await sleep(0);
  expect(state.read).toEqual(["other", "one", "other", "one"]);
});
