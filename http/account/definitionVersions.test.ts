import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { readVersionPage } from "./definitionVersions.ts";

const definition = { id: "d", wrapped_key: "key", version: 40 };

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
  const versions = Array.from({ length: 10 }, (_, n) => ({
    version: 10 - n,
    blob: "b",
    sha256: "s",
    created_by: "person:p",
    created_at: new Date(),
  }));
  const read = (some: typeof versions) => readVersionPage({ vault } as never, definition, some);
  const { rows, total } = await read(versions);
  expect([rows.map(({ version }) => version), total]).toEqual([[10, 9, 8, 7, 6, 5, 4], 40]);
  expect((await read(versions.slice(7))).rows.map(({ version }) => version)).toEqual([3, 2, 1]);
  expect(most).toBe(1);
});
