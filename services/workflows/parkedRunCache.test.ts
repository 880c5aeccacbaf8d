import { expect, test } from "vitest";
import type { OpenRun } from "./openRun.ts";
import { createParkedRunCache } from "./parkedRunCache.ts";

/** A parked run whose steps have returned this many characters. */
const parkedRun = (id: string, size: number, organization_id = "o"): OpenRun =>
  ({
    history: {
      stream: `run-${id}`,
      organization_id,
      created: { run_id: id },
      state: { status: "running" },
      version: 1,
      args: "",
      memoSize: size,
      stepSize: 0,
      links: { inputSize: 0 },
    },
    recorded: () => 1,
  }) as unknown as OpenRun;

function openCache(limits: { runs: number; size: number }) {
  const forgotten: string[] = [];
  const cache = createParkedRunCache({ runner: { forget: (id: string) => void forgotten.push(id) } } as any, limits);
  return { ...cache, forgotten };
}

test("parked runs that are too large together make room: the oldest of the organization that has the most", () => {
  const { keep, get, forgotten } = openCache({ runs: 10, size: 100 });
  keep(parkedRun("mine", 10));
  for (const id of ["a", "b", "c"]) keep(parkedRun(id, 40, "large"));
  expect(forgotten).toEqual(["a"]);
  expect(get("run-mine")).toBeDefined();
  // the same run again, which has grown
  keep(parkedRun("c", 60, "large"));
  expect(forgotten).toEqual(["a", "b"]);
  keep(parkedRun("huge", 200, "large"));
  expect(forgotten).toEqual(["a", "b", "c", "huge"]);
  expect(get("run-mine")).toBeDefined();
});

test("of too many parked runs the oldest is dropped, and one that resumes makes room", () => {
  const { keep, drop, get, forgotten } = openCache({ runs: 2, size: 100 });
  for (const id of ["a", "b", "c"]) keep(parkedRun(id, 0));
  expect(forgotten).toEqual(["a"]);
  drop("run-b");
  keep(parkedRun("d", 0));
  expect([get("run-c"), get("run-d")]).not.toContain(undefined);
  expect(forgotten).toEqual(["a"]);
});

test("a run that resumes is taken out, so that its runner keeps it however many others park", () => {
  const { keep, take, get, forgotten } = openCache({ runs: 2, size: 100 });
  const resumed = parkedRun("a", 0);
  keep(resumed);
  expect(take("run-a")).toBe(resumed);
  expect(get("run-a")).toBeUndefined();
  for (const id of ["b", "c", "d"]) keep(parkedRun(id, 0));
  expect(forgotten).toEqual(["b"]);
  keep(resumed);
  expect([get("run-a"), get("run-d")]).not.toContain(undefined);
});
