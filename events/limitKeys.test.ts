import { expect, test } from "vitest";
import { z } from "zod";
import { limitKeys } from "./limitKeys.ts";

const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, n]));

test("a record with more keys than its limit is refused before its members are checked", () => {
  let checked = 0;
  const Member = z.unknown().refine(() => (checked++, false), "is wrong");
  const Limited = limitKeys(16, z.record(z.string(), Member));
  const messages = (value: unknown) => Limited.safeParse(value).error!.issues.map(({ message }) => message);
  expect(messages(keys(25_000))).toEqual(["must have 16 keys at most"]);
  expect(checked).toBe(0);
  expect(messages(keys(16))).toEqual(Array.from({ length: 16 }, () => "is wrong"));
  expect(messages([])).toHaveLength(1);
});

test("a limited record is described as it would be without its limit", () => {
  const record = z.record(z.string(), z.number()).describe("By name.");
  const describe = (schema: z.ZodType) => z.toJSONSchema(z.object({ record: schema.optional() }), { io: "input" });
  expect(describe(limitKeys(1, record))).toEqual(describe(record));
});
