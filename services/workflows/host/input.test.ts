import { expect, test } from "vitest";
import { parseInput } from "./input.ts";

test("the input of a call keeps keys like __proto__ as data", () => {
  const args = JSON.parse('{"__proto__":{"a":1},"constructor":1,"b":[{"__proto__":5}]}') as object;
  expect(JSON.stringify(parseInput("tool", { name: "a", args }).args)).toBe(JSON.stringify(args));
  const vars = JSON.parse('{"__proto__":"x"}') as object;
  const sent = { agent_id: "0198F000-0000-7000-8000-000000000000", input: "A", vars };
  const agent = parseInput("agent", sent);
  expect(JSON.stringify(agent.vars)).toBe('{"__proto__":"x"}');
  expect(agent.agent_id).toBe("0198f000-0000-7000-8000-000000000000");
  expect(agent.input).toEqual([{ role: "user", content: "A" }]);
});

test.each([
  [{ model: "a/b", messages: [{ role: "user", content: "A" }, { role: "user" }] }, /^chat: messages\[1\]\.content: /],
  [{ model: "a/b", messages: "A" }, /^chat: messages: /],
  [{ model: "a/b", messages: [{ role: "user", content: "A" }], knowledge: { collections: [5] } }, /collections\[0\]: /],
  ["A", /^chat: /],
])("the input %j of a chat fails for good with the path of the field", (input, message) => {
  expect(() => parseInput("chat", input)).toThrow(
    expect.objectContaining({ code: "step_error", final: true, message: expect.stringMatching(message) }),
  );
});
