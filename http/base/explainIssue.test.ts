import { expect, test } from "vitest";
import { z } from "zod";
import { validator } from "./validate.ts";

const Body = z.object({
  kind: z.enum(["a", "b"]).optional(),
  fixed: z.literal(true).optional(),
  count: z.int().min(2).max(9).optional(),
  share: z.number().gt(0).lt(1).optional(),
  text: z.string().min(1).max(5).optional(),
  code: z.string().min(4).optional(),
  list: z.array(z.string()).max(1).optional(),
  fields: z.record(z.string(), z.unknown()).optional(),
  on: z.boolean().optional(),
  id: z.uuid().optional(),
  at: z.iso.datetime().optional(),
  own: z.string("must be a sentence").optional(),
  when: z.union([z.literal("always"), z.object({ at: z.string() }), z.object({ at: z.number() })]).optional(),
  scheme: z.discriminatedUnion("of", [z.object({ of: z.literal("a") }), z.object({ of: z.literal("b") })]).optional(),
  needed: z.number(),
});
const check = validator()({ schema: Body, method: "POST", url: "/", httpPart: "body" });
const reasonOf = (change: object) => (check({ needed: 1, ...change }) as { error: Error }).error.message;

test.each<[object, string]>([
  [{ kind: "c" }, 'kind: must be one of "a", "b".'],
  [{ kind: null }, 'kind: must be one of "a", "b".'],
  [{ fixed: 1 }, "fixed: must be true."],
  [{ count: 2.5 }, "count: must be a whole number."],
  [{ count: "2" }, "count: must be a number."],
  [{ count: 1 }, "count: must be at least 2."],
  [{ count: 10 }, "count: must be at most 9."],
  [{ share: 0 }, "share: must be more than 0."],
  [{ share: 1 }, "share: must be less than 1."],
  [{ text: "" }, "text: must not be empty."],
  [{ text: "123456" }, "text: must have 5 characters at most."],
  [{ code: "123" }, "code: must have 4 characters at least."],
  [{ list: ["a", "b"] }, "list: must have 1 items at most."],
  [{ list: {} }, "list: must be an array."],
  [{ list: [1] }, "list[0]: must be a string."],
  [{ fields: [] }, "fields: must be an object."],
  [{ on: "true" }, "on: must be a boolean."],
  [{ id: "x" }, "id: must be a UUID."],
  [{ at: "2026-02-30T00:00:00Z" }, "at: must be a time such as 2027-01-31T09:00:00Z."],
  [{ own: 1 }, "own: must be a sentence."],
  [{ when: 7 }, 'when: must be "always" or an object.'],
  [{ when: { at: true } }, 'when: must be "always" or at must be a string or at must be a number.'],
  [{ scheme: { of: "c" } }, 'scheme.of: must be one of "a", "b".'],
  [{ needed: undefined }, "needed: is required."],
])("%j is refused in plain words", (change, message) => expect(reasonOf(change)).toBe(message));

test.each([
  ["null", null],
  ["a list", []],
  ["a text", "x"],
])("a body that is %s is refused in plain words", (_, body) => {
  expect((check(body) as { error: Error }).error.message).toBe("The request body: must be an object.");
});
