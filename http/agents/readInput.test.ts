import { describe, expect, test } from "vitest";
import { refuseAgentFields, parseResponseId } from "./checkRequest.ts";
import { readToolResultCalls, readInput } from "./readInput.ts";
import { ResponseRequest } from "./schema.ts";
import { mergeVars, readVars } from "./vars.ts";

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

describe("the input of a response request", () => {
  test("is a user message when it is a string", () => {
    expect(readInput(request({}))).toEqual({
      instructions: [],
      messages: [{ role: "user", text: "hello", files: [] }],
    });
  });

  test("is a list of messages and instructions, and skips items of other types", () => {
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
  ])("is refused with %s", (_, item) => {
    expect(code(() => input(item))).toBe("invalid_input");
  });

  test("has attachments with the error codes of the chat API", () => {
    const user = (part: object) => () => input({ role: "user", content: [part] });
    expect(code(user({ type: "input_image", image_url: "https://a.example/x.png" }))).toBe("invalid_attachment");
    expect(code(user({ type: "input_file" }))).toBe("invalid_attachment");
    expect(code(() => readInput(request({ attachments: Array(17).fill("a") })))).toBe("too_many_attachments");
  });

  test("names the tool calls whose results end it", () => {
    expect(readToolResultCalls(request({}))).toEqual([]);
    const result = (call_id: string) => ({ type: "function_call_output", call_id, output: "{}" });
    const items = [result("call_0"), { role: "user", content: "q" }, result("call_1"), result("call_2")];
    expect(readToolResultCalls(request({ input: items }))).toEqual(["call_1", "call_2"]);
  });

  test("has calls and results of the caller's own tools, where it may bring some", () => {
    const items = [
      { type: "reasoning", summary: [] },
      { role: "assistant", content: "Let me look." },
      { type: "function_call", call_id: "c1", name: "ours", arguments: "{}" },
      { type: "function_call", call_id: "c2", name: "theirs", arguments: "{}" },
      { type: "function_call_output", call_id: "c1", output: "no such tool" },
      { type: "function_call_output", call_id: "c2", output: [{ type: "input_text", text: "Rain" }] },
      { type: "function_call_output", call_id: "c3", output: "ran on the server" },
    ];
    const own = { isServerTool: (name: string) => name === "ours", serverCalls: new Set(["c3"]) };
    expect(readInput(request({ input: items }), own).messages).toEqual([
      {
        role: "assistant",
        text: "Let me look.",
        files: [],
        calls: [{ id: "c2", name: "theirs", arguments: "{}", client: true }],
      },
      { role: "tool", text: "Rain", files: [], call_id: "c2", param: "input[5].call_id" },
    ]);
    expect(code(() => readInput(request({ input: items })))).toBe("invalid_input");
  });

  test.each([
    ["input_audio", "invalid_input"],
    ["input_image", "invalid_attachment"],
  ])("is refused with a result that has an invalid part of the type %s", (type, expected) => {
    const own = { isServerTool: () => false, serverCalls: new Set<string>() };
    const result = { type: "function_call_output", call_id: "c", output: [{ type }] };
    expect(code(() => readInput(request({ input: [result] }), own))).toBe(expected);
  });
});

test("`text` of a response request is an object", () => {
  for (const text of ["json", 5, [], true])
    expect(ResponseRequest.safeParse({ input: "x", text }).error?.issues.map(({ path }) => path)).toEqual([["text"]]);
  for (const text of [null, undefined, {}, { verbosity: "low" }, { format: null }])
    expect(ResponseRequest.safeParse({ input: "x", text }).success).toBe(true);
});

const closed = { client_tools: false };

test("tools and formats in a response request are refused unless they are empty or the default", () => {
  for (const fields of [{ tools: [] }, { tools: null }, { text: { format: { type: "text" } } }, { text: {} }])
    expect(code(() => refuseAgentFields(request(fields), closed))).toBeNull();
  expect(code(() => refuseAgentFields(request({ tools: [{}] }), closed))).toBe("tools_not_supported_for_agent");
  expect(code(() => refuseAgentFields(request({ tool_choice: "auto" }), closed))).toBe("tools_not_supported_for_agent");
  expect(code(() => refuseAgentFields(request({ text: { format: { type: "json_object" } } }), closed))).toBe(
    "unsupported_response_format",
  );
});

test("vars override metadata, and are at most 32 together", () => {
  expect(readVars({ metadata: { a: 1, b: 1 }, vars: { b: 2 } })).toEqual({ a: 1, b: 2 });
  expect(code(() => readVars({ vars: [] }))).toBe("invalid_vars");
  expect(code(() => readVars({ metadata: "x" }))).toBe("invalid_vars");
  const many = Object.fromEntries(Array.from({ length: 32 }, (_, n) => [`k${n}`, n]));
  expect(Object.keys(mergeVars(many, { k0: 1 }))).toHaveLength(32);
  expect(code(() => mergeVars(many, { more: 1 }))).toBe("invalid_vars");
  expect(readVars({ vars: JSON.parse('{"__proto__": 1}') })).toEqual(JSON.parse('{"__proto__": 1}'));
});

test("the id of a response is read with its prefix and without", () => {
  const id = "0198c0de-0000-7000-8000-00000000000a";
  expect(parseResponseId(`resp_${id}`, "id")).toBe(id);
  expect(parseResponseId(id.toUpperCase(), "id")).toBe(id);
  expect(code(() => parseResponseId("resp_1", "id"))).toBe("invalid_response_id");
});
