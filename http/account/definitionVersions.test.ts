import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { readVersionPage } from "./definitionVersions.ts";

const definition = { id: "d", wrapped_key: "key" };

test("the sources of a page of versions are read one after the other, and end a page that gets too long", async () => {
  let [open, most] = [0, 0];
  const vault = {
    async get() {
      most = Math.max(most, ++open);
      await setImmediate();
      open -= 1;
      return Buffer.from(JSON.stringify({ source: "x".repeat(256 * 1024), js: "" }));
    },
  };
  const versions = Array.from({ length: 40 }, (_, n) => ({
    version: 40 - n,
    blob: "b",
    sha256: "s",
    created_by: "person:p",
    created_at: new Date(),
  }));
  const read = (limit: number, offset: number) =>
    readVersionPage({ vault } as never, definition, {
      rows: versions.slice(offset, offset + limit),
      total: versions.length,
    });
  const { rows, total } = await read(500, 30);
  expect([rows.map(({ version }) => version), total]).toEqual([[10, 9, 8, 7, 6, 5, 4], 40]);
  expect((await read(3, 37)).rows.map(({ version }) => version)).toEqual([3, 2, 1]);
  expect(most).toBe(1);
});
