import { createRecognizer } from "#infra/readers/recognition/createRecognizer.ts";
import { afterAll, expect, test } from "vitest";
import { readFile } from "#services/reading/read.ts";
import { UnreadableFile } from "#services/reading/reader.ts";
import { typeFromFileName } from "#events/mediaTypes.ts";
import { expectTruth } from "../files/expectTruth.ts";
import { readable, realFile, unreadable } from "../files/index.ts";

const recognizer = createRecognizer({ languages: ["eng", "deu"] });
afterAll(recognizer.close);

test.each(readable)("$name is read with its words, headings, tables and lists", async (truth) => {
  const file = { ...truth, bytes: realFile(truth.name), recognize: 1 };
  const { markdown, page_count, passages } = await readFile(file, recognizer);
  expect(page_count).toBe(truth.page_count);
  expect(passages.map(({ start, end }) => markdown.slice(start, end)).join("")).toBe(markdown);
  expectTruth(markdown, truth);
});

test.each(unreadable)("$name cannot be read, and the error gives the reason", async ({ name, message }) => {
  const mime_type = typeFromFileName(name)!;
  const error = await readFile({ mime_type, bytes: realFile(name) }).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(UnreadableFile);
  expect((error as Error).message).toMatch(message);
});
