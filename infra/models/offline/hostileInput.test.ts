import { expect, test } from "vitest";
import { computingTime, longestTurn } from "#test/computingTime.ts";
import { filePart, modelRequest } from "#test/doubles/modelRequest.ts";
import { countPrompt } from "../tokens.ts";
import { minimalValue } from "./minimalValue.ts";
import { extractive } from "./extractive.ts";
import { scripted } from "./scripted.ts";
import { splitChunks, streamAnswer } from "./streamAnswer.ts";

/* Limit for work on the event loop shared by all organizations. It once took over 17 s; slow machines take four times as long as fast ones. */
const MAX_MS = 200;
const KIB = 1024;
const many = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);

test.each([
  ["200 KB of spaces are split into chunks", () => [...splitChunks(" ".repeat(200 * KIB))]],
  ["200 KB of single letters are split into chunks", () => [...splitChunks("a ".repeat(100 * KIB))]],
  [
    "a schema merges 1,000 references to an object with 20,000 required names",
    () =>
      minimalValue({
        $defs: { wide: { required: Array.from({ length: 20_000 }, (_, n) => `p${n}`) } },
        allOf: Array.from({ length: 1_000 }, () => ({ $ref: "#/$defs/wide" })),
      }),
  ],
  [
    "a thousand values refer to a schema of thousands of names",
    () => {
      const names = (letter: string, count: number) => Array.from({ length: count }, (_, n) => letter + n);
      const same = (keys: string[], value: unknown) => Object.fromEntries(keys.map((key) => [key, value]));
      const required = names("q", 1_000);
      const wide = { allOf: [{}, ...many(50, { $ref: "#/$defs/big" })], properties: same(names("o", 500), {}) };
      const $defs = { wide, big: { properties: same(names("p", 1_500), {}) } };
      return minimalValue({ type: "object", required, properties: same(required, { $ref: "#/$defs/wide" }), $defs });
    },
  ],
  [
    "a thousand values refer to a reference of 100,000 parts",
    () => {
      const properties = Object.fromEntries(many(1_000, { $ref: "#/$defs/far" }).map((ref, n) => [`q${n}`, ref]));
      const far = { $ref: `#${"/a".repeat(100_000)}` };
      return minimalValue({ type: "object", required: Object.keys(properties), properties, $defs: { far } });
    },
  ],
  [
    "arrays nest ten deep, each with two thousand items",
    () => {
      let schema: object = { type: "string" };
      for (let n = 0; n < 10; n++) schema = { type: "array", minItems: 2_000, items: schema };
      return minimalValue(schema);
    },
  ],
])("hostile input of the offline models: %s within 200 ms of processor time", (_title, work) => {
  work();
  expect(computingTime(work)).toBeLessThan(MAX_MS);
});

test("the tokens of 10,000 messages of 5 KB are counted within 200 ms of processor time", async () => {
  const message = { role: "user" as const, parts: [{ type: "text" as const, text: "words ".repeat(850) }] };
  const request = { instructions: null, messages: Array.from({ length: 10_000 }, () => message), tools: [] };
  await countPrompt(request as unknown as Parameters<typeof countPrompt>[0]);
  const start = process.threadCpuUsage();
  await countPrompt(request as unknown as Parameters<typeof countPrompt>[0]);
  const { user, system } = process.threadCpuUsage(start);
  expect((user + system) / 1000).toBeLessThan(MAX_MS);
});

const { signal } = new AbortController();
const file = filePart("a.txt", "text/plain", "word ".repeat(5 * KIB * KIB));
test.each([
  [
    "100,000 stop sequences are looked for in a long text",
    () => streamAnswer(modelRequest("", { stop: many(100_000, "b") }), { text: "a".repeat(1_000 * KIB) }),
  ],
  ["a script has ten million lines", () => scripted.complete(modelRequest("a\n".repeat(10_000_000)), signal)],
  ["16 texts of 25 MiB are attached", () => extractive.complete(modelRequest("word", {}, many(16, file)), signal)],
])("hostile input of the offline models: %s without a turn of 200 ms", async (_title, open) => {
  const answer = open();
  expect(await longestTurn(() => Array.fromAsync(answer))).toBeLessThan(MAX_MS);
});
