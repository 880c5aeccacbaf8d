import { describe, expect, test } from "vitest";
import { checkFixed, turnIdOf } from "./check.ts";
import { answeredCall, readInput } from "./input.ts";
import { ResponseRequest } from "./schema.ts";
import { merged, varsOf } from "./vars.ts";

const request = (fields: object) => ResponseRequest.parse({ input: "hello", ...fields });
const input = (...items: object[]) => readInput(request({ input: items }));
const code = (act: () => unknown): string | null => {
  try {
    act();
  } catch (error) {
    return (error as { errorCode: string }).errorCode;
  }
  return null;
};

describe("input", () => {
  test("a string is a user's turn", () => {
    expect(readInput(request({}))).toEqual({
      instructions: [],
      messages: [{ role: "user", text: "hello", files: [] }],
    });
  });

  test("items are turns and instructions; other types are skipped", () => {
    const read = input(
      { role: "developer", content: "be brief" },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "hi" }] },
      { type: "reasoning", summary: [] },
      {
        role: "user",
        content: [
          { type: "input_text", text: "a" },
          { type: "whatever" },
          { type: "input_text", text: "b" },
          { type: "input_image", image_url: "data:image/png;base64,AAAA" },
          { type: "input_file", filename: "a.txt", file_data: "AAAA" },
        ],
      },
    );
    expect(read.instructions).toEqual(["be brief"]);
    expect(read.messages).toMatchObject([
      { role: "assistant", text: "hi" },
      { role: "user", text: "a\nb", files: [{ mime_type: "image/png" }, { filename: "a.txt" }] },
    ]);
  });

  test.each([
    ["an unknown role", { role: "tool", content: "x" }],
    ["no role", { content: "x" }],
    ["no user", { role: "assistant", content: "x" }],
    ["an empty user message", { role: "user", content: " " }],
    ["a text part without text", { role: "user", content: [{ type: "input_text" }] }],
  ])("%s is refused", (_, item) => {
    expect(code(() => input(item))).toBe("invalid_input");
  });

  test("attachments have the codes of the chat API", () => {
    const user = (part: object) => () => input({ role: "user", content: [part] });
    expect(code(user({ type: "input_image", image_url: "https://a.example/x.png" }))).toBe("invalid_attachment");
    expect(code(user({ type: "input_file" }))).toBe("invalid_attachment");
    expect(code(() => readInput(request({ attachments: Array(17).fill("a") })))).toBe("too_many_attachments");
  });

  test("a call's result that a client sends back is known by the call", () => {
    expect(answeredCall(request({}))).toBeUndefined();
    const items = [
      { role: "user", content: "q" },
      { type: "function_call_output", call_id: "call_1", output: "{}" },
    ];
    expect(answeredCall(request({ input: items }))).toBe("call_1");
  });
});

test("an agent's tools are its own, and so is its format", () => {
  for (const fields of [{ tools: [] }, { tools: null }, { text: { format: { type: "text" } } }, { text: {} }])
    expect(code(() => checkFixed(request(fields)))).toBeNull();
  expect(code(() => checkFixed(request({ tools: [{}] })))).toBe("tools_not_supported_for_agent");
  expect(code(() => checkFixed(request({ tool_choice: "auto" })))).toBe("tools_not_supported_for_agent");
  expect(code(() => checkFixed(request({ text: { format: { type: "json_object" } } })))).toBe(
    "unsupported_response_format",
  );
});

test("vars win over metadata, and are at most 32 together", () => {
  expect(varsOf({ metadata: { a: 1, b: 1 }, vars: { b: 2 } })).toEqual({ a: 1, b: 2 });
  expect(code(() => varsOf({ vars: [] }))).toBe("invalid_vars");
  expect(code(() => varsOf({ metadata: "x" }))).toBe("invalid_vars");
  const many = Object.fromEntries(Array.from({ length: 32 }, (_, n) => [`k${n}`, n]));
  expect(Object.keys(merged(many, { k0: 1 }))).toHaveLength(32);
  expect(code(() => merged(many, { more: 1 }))).toBe("invalid_vars");
  expect(varsOf({ vars: JSON.parse('{"__proto__": 1}') })).toEqual(JSON.parse('{"__proto__": 1}'));
});

test("a response is named with its prefix or without", () => {
  const id = "0198c0de-0000-7000-8000-00000000000a";
  expect(turnIdOf(`resp_${id}`, "id")).toBe(id);
  expect(turnIdOf(id.toUpperCase(), "id")).toBe(id);
  expect(code(() => turnIdOf("resp_1", "id"))).toBe("invalid_response_id");
});
