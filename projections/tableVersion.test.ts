import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createTableVersion } from "./tableVersion.ts";

/** A table whose version can be set, and how often it was looked up. */
function openTable() {
  const table = { version: "1", looks: 0, isAway: false };
  const query = async () => {
    table.looks++;
    if (table.isAway) throw new Error("away");
    return [{ version: table.version }] as never[];
  };
  return { table, version: createTableVersion({ query }, "providers") };
}

test("a version is unknown until it was looked up, and looked up once for all who ask", async () => {
  const { table, version } = openTable();
  expect([version(), version()]).toEqual([undefined, undefined]);
  await sleep(0);
  expect([version(), version(), table.looks]).toEqual(["1", "1", 1]);
});

test("a change is known within a second, and a version that cannot be looked up is unknown then", async () => {
  const { table, version } = openTable();
  version();
  await sleep(600);
  table.version = "2";
  // asks for the next look
  expect(version()).toBe("1");
  await sleep(0);
  expect(version()).toBe("2");
  table.isAway = true;
  await sleep(600);
  expect(version()).toBe("2");
  await sleep(450);
  expect(version()).toBeUndefined();
});
