import { expect, test } from "vitest";
import { createPlaces } from "./places.ts";

const never = new AbortController().signal;
const soon = () => new Promise((resolve) => setImmediate(resolve));

function desk(options: { places: number; each: number }) {
  const places = createPlaces(options);
  const entered: string[] = [];
  const ask = (tenant: string, signal = never) =>
    places.enter(tenant, signal).then(
      () => entered.push(tenant),
      () => {},
    );
  return { places, entered, ask };
}

test("tenants that wait are let in by turns", async () => {
  const { places, entered, ask } = desk({ places: 1, each: 1 });
  for (const tenant of ["a", "a", "a", "b", "c", "b"]) void ask(tenant);
  for (let n = 0; n < 6; n++) {
    await soon();
    places.leave(entered.at(-1)!);
  }
  await soon();
  expect(entered.join("")).toBe("aabcab");
});

test("no tenant holds all places", async () => {
  const { places, entered, ask } = desk({ places: 4, each: 2 });
  for (const tenant of ["a", "a", "a", "a", "b"]) void ask(tenant);
  await soon();
  expect(entered.join("")).toBe("aab");
  places.leave("a");
  await soon();
  expect(entered.join("")).toBe("aaba");
});

test("a place that is lent is another tenant's, and none more for the one that lent it", async () => {
  const { places, entered, ask } = desk({ places: 1, each: 1 });
  for (const tenant of ["a", "a", "b"]) void ask(tenant);
  await soon();
  places.lend();
  await soon();
  expect(entered.join("")).toBe("ab");
  places.leave("a", true);
  await soon();
  expect(entered.join("")).toBe("ab");
  places.leave("b");
  await soon();
  expect(entered.join("")).toBe("aba");
});

test("one that gives up waits no longer", async () => {
  const { places, entered, ask } = desk({ places: 1, each: 1 });
  const cut = new AbortController();
  void ask("a");
  void ask("b", cut.signal);
  void ask("b");
  cut.abort();
  await soon();
  places.leave("a");
  await soon();
  expect(entered.join("")).toBe("ab");
  places.leave("b");
  await soon();
  expect(entered.join("")).toBe("ab");
  await expect(places.enter("c", cut.signal)).rejects.toThrow();
});
