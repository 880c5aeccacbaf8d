import { expect, test } from "vitest";
import { withOwner } from "#events/owner.ts";
import { createQueryShares } from "./queryShares.ts";

/** Queries that end when the test says so, in the order in which they began. */
function stage() {
  const shares = createQueryShares({ total: 4, perTenant: 3 });
  const running: { name: string; end: () => void }[] = [];
  const query = (owner: string | undefined, name: string) =>
    withOwner(owner, () => shares(() => new Promise<void>((end) => running.push({ name, end }))));
  const names = () => running.map(({ name }) => name);
  const end = async (name: string): Promise<void> => {
    const at = names().indexOf(name);
    running.splice(at, 1)[0]!.end();
    await new Promise(setImmediate);
  };
  return { query, names, end };
}

test("an organization with many queries waits for its own, and another one's next query does not", async () => {
  const { query, names, end } = stage();
  for (let n = 1; n <= 6; n++) void query("a", `a${n}`);
  void query("b", "b1");
  expect(names()).toEqual(["a1", "a2", "a3", "b1"]);
  await end("a2");
  expect(names()).toEqual(["a1", "a3", "b1", "a4"]);
});

test("those that wait for a connection get it in turns, by organization", async () => {
  const { query, names, end } = stage();
  for (let n = 1; n <= 5; n++) void query("a", `a${n}`);
  for (let n = 1; n <= 3; n++) void query("b", `b${n}`);
  void query("c", "c1");
  for (const [ended, next] of [
    ["a1", "a4"],
    ["b1", "b2"],
    ["b2", "c1"],
  ] as const) {
    await end(ended);
    expect(names().at(-1)).toBe(next);
  }
});

test("what works for nobody in particular does not wait", () => {
  const { query, names } = stage();
  for (let n = 1; n <= 3; n++) for (const owner of ["a", "b"]) void query(owner, `${owner}${n}`);
  void query(undefined, "projector");
  expect(names()).toContain("projector");
});

test("a query that fails gives its place back", async () => {
  const shares = createQueryShares({ total: 1, perTenant: 1 });
  const fails = withOwner("a", () => shares(() => Promise.reject(new Error("no"))));
  await expect(fails).rejects.toThrow("no");
  expect(await withOwner("a", () => shares(async () => "next"))).toBe("next");
});
