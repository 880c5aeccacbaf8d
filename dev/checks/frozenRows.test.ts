import { expect, test } from "vitest";
import { readRows, rowFaults, rowsNow } from "./frozenRows.ts";

test("a read model whose tables or rows have changed has a new version", () => {
  expect(rowFaults(readRows(), rowsNow())).toEqual([]);
});

test("other rows of the same version, and a version whose rows are not kept, are named", () => {
  const kept = { files: { version: 3, sha256: "a" }, users: { version: 1, sha256: "b" } };
  expect(rowFaults(kept, kept)).toEqual([]);
  const now = { files: { version: 3, sha256: "c" }, users: { version: 2, sha256: "d" } };
  expect(rowFaults(kept, now)).toEqual([
    expect.stringContaining("files: its tables or rows have changed"),
    expect.stringContaining("users: the rows of version 2 are not kept"),
  ]);
});
