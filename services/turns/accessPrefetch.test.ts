import { afterEach, expect, test, vi } from "vitest";
import { newId } from "#events/ids.ts";
import { createAccessPrefetch } from "./accessPrefetch.ts";

const organization = newId();

/** Counts look-ups, and creates the events of a turn that starts. */
function lookUps() {
  const heads = vi.fn(async () => new Map());
  const sources = { log: { heads, read: async () => [] }, keyring: {}, deployment: [], offline: true } as never;
  const begin = (turn_id: string, data: object = {}) =>
    prefetch.begin(organization, [
      { type: "TurnStarted", data: { turn_id, model: "offline/echo", worker: "this", ...data } },
    ]);
  const prefetch = createAccessPrefetch(sources, "this");
  return { heads, begin, take: prefetch.take };
}

afterEach(() => void vi.useRealTimers());

test("a turn takes what was looked up before its commit, once", async () => {
  const { heads, begin, take } = lookUps();
  begin("t1");
  expect(heads).toHaveBeenCalledTimes(1);
  await expect(take("t1")).resolves.toMatchObject({ credential: { provider: "offline" } });
  expect(take("t1")).toBeUndefined();
});

test("a look-up that is a second old is not used: the credential may be gone", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const { begin, take } = lookUps();
  begin("t1");
  begin("t2");
  vi.advanceTimersByTime(900);
  expect(take("t1")).toBeDefined();
  vi.advanceTimersByTime(200);
  expect(take("t2")).toBeUndefined();
});

test.each([
  ["of another process", { worker: "another" }],
  ["that nobody runs yet", { worker: null }],
  ["of an alias", { route: { targets: [] } }],
])("nothing is looked up for a turn %s", (_, data) => {
  const { heads, begin, take } = lookUps();
  begin("t1", data);
  expect(heads).not.toHaveBeenCalled();
  expect(take("t1")).toBeUndefined();
});

test("a failed look-up fails its own turn and no other", async () => {
  const { begin, take } = lookUps();
  begin("t1", { model: "unknown/model" });
  await new Promise(setImmediate);
  await expect(take("t1")).rejects.toThrow("No credential for the provider unknown.");
});

test("look-ups of turns that never begin are pushed out by newer ones", () => {
  const { begin, take } = lookUps();
  for (let n = 0; n <= 1_000; n++) begin(`t${n}`);
  expect(take("t0")).toBeUndefined();
  expect(take("t1")).toBeDefined();
});
