import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { watchTable } from "./tableChanges.ts";

/** A watched table that can change or be away, and how often it was looked at. */
function openTable() {
  const table = { version: "1", looks: 0, isAway: false, takes_ms: 0 };
  const query = async () => {
    table.looks++;
    if (table.isAway) throw new Error("away");
    if (table.takes_ms > 0) await sleep(table.takes_ms);
    return [{ version: table.version }] as never[];
  };
  return { table, changes: watchTable({ query }, "providers") };
}

test("what was read is unchanged as long as the table is, and everybody shares a look at it", async () => {
  const { table, changes } = openTable();
  const [first, second] = [await changes.read(async () => ({})), await changes.read(async () => ({}))];
  // not known to be unchanged, because the first look began with it
  expect(changes.isUnchanged(first)).toBe(false);
  expect([changes.isUnchanged(second), changes.isUnchanged(second), table.looks]).toEqual([true, true, 1]);
});

test("a change is noticed within a second, and counts if it comes while something is read", async () => {
  const { table, changes } = openTable();
  changes.isUnchanged(await changes.read(async () => ({})));
  const during = await changes.read(async () => {
    table.version = "2";
    return {};
  });
  expect(changes.isUnchanged(during)).toBe(true);
  await sleep(600);
  // begins the next look
  changes.isUnchanged(during);
  await sleep(0);
  expect(changes.isUnchanged(during)).toBe(false);
});

test("a table whose look takes long is looked at less often, and is not known to be unchanged in between", async () => {
  const { table, changes } = openTable();
  table.takes_ms = 30;
  await changes.read(async () => ({}));
  await sleep(50);
  const value = await changes.read(async () => ({}));
  expect(changes.isUnchanged(value)).toBe(true);
  await sleep(1_050);
  expect([changes.isUnchanged(value), table.looks]).toEqual([false, 1]);
});

test("nothing is known to be unchanged while the table cannot be looked at", async () => {
  const { table, changes } = openTable();
  await changes.read(async () => ({}));
  const value = await changes.read(async () => ({}));
  table.isAway = true;
  await sleep(600);
  expect(changes.isUnchanged(value)).toBe(true);
  await sleep(450);
  expect(changes.isUnchanged(value)).toBe(false);
});
