import { expect, test } from "vitest";
import { readFile } from "#services/reading/read.ts";
import { UnreadableFile } from "#services/reading/reader.ts";
import { typeOfExtension } from "#events/mediaTypes.ts";
import { expectTruth } from "../files/expectTruth.ts";
import { readable, realFile, unreadable } from "../files/index.ts";

test.each(readable)("$name is read as it is", async (truth) => {
  const { markdown, page_count, passages } = await readFile({ ...truth, bytes: realFile(truth.name) });
  expect(page_count).toBe(truth.page_count);
  expect(passages.map(({ start, end }) => markdown.slice(start, end)).join("")).toBe(markdown);
  expectTruth(markdown, truth);
});

test.each(unreadable)("$name cannot be read, and a person is told why", async ({ name, told }) => {
  const mime_type = typeOfExtension(name)!;
  const refused = await readFile({ name, mime_type, bytes: realFile(name) }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(UnreadableFile);
  expect((refused as Error).message).toMatch(told);
});
