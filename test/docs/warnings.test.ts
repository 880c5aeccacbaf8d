import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { WARNING_CODES } from "#events/readingWarnings.ts";

test("docs/documents.md names each warning once in its table, and no other", async () => {
  const page = await readFile(new URL("../../docs/documents.md", import.meta.url), "utf8");
  const [, section = ""] = page.split("## What a text leaves out");
  const rows = section.split("\n## ")[0]!.match(/^\| `.*?` \|/gm) ?? [];
  const named = rows.flatMap((row) => [...row.matchAll(/`(\w+)`/g)].map(([, code]) => code));
  expect(named.toSorted()).toEqual([...WARNING_CODES].toSorted());
});
