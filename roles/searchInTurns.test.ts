import { expect, test } from "vitest";
import { SearchBusy, type EngineScope, type SearchEngine } from "#projections/passages/engine.ts";
import { createFairSemaphore } from "#services/sharing/fairSemaphore.ts";
import { searchInTurns } from "./searchInTurns.ts";

/** An engine with three places, at most two per organization. Its searches end when the test ends them. */
function stage(max_wait_ms = 60_000) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const engine: SearchEngine = {
    async search(index) {
      begun.push(index);
      await new Promise<void>((resolve) => ends.set(index, resolve));
      return [];
    },
    nearest: async () => [],
    fetch: async () => [],
  };
  const shared = searchInTurns(engine, createFairSemaphore({ total: 3, perTenant: 2 }), () => max_wait_ms);
  const search = (organization_id: string, name: string) => shared.search(name, { organization_id } as EngineScope, []);
  return { begun, search, end: (name: string) => ends.get(name)!() };
}

test("a search of another organization overtakes those that wait for their own share", async () => {
  const { begun, search, end } = stage();
  const answers = [...["a1", "a2", "a3"].map((name) => search("a", name)), search("b", "b1")];
  await expect.poll(() => begun).toEqual(["a1", "a2", "b1"]);
  end("a1");
  await expect.poll(() => begun).toEqual(["a1", "a2", "b1", "a3"]);
  for (const name of ["a2", "a3", "b1"]) end(name);
  expect(await Promise.all(answers)).toEqual([[], [], [], []]);
});

test("a search that waits for too long is refused, and its place is not lost", async () => {
  const { begun, search, end } = stage(20);
  const held = [search("a", "a1"), search("a", "a2")];
  await expect(search("a", "a3")).rejects.toBeInstanceOf(SearchBusy);
  end("a1");
  end("a2");
  await Promise.all(held);
  const next = search("a", "a4");
  await expect.poll(() => begun).toContain("a4");
  end("a4");
  expect(await next).toEqual([]);
});
