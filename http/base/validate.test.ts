import { expect, test } from "vitest";
import { z } from "zod";
import { ChangeAgentBody } from "../account/agentShape.ts";
import { CompletionRequest, COMPLETION_CODES } from "../chat/schema.ts";
import { PushTextBody } from "../knowledge/documentShape.ts";
import { SearchRequest } from "../knowledge/searchShape.ts";
import { PageQuery, readPage } from "./pagination.ts";
import { validator } from "./validate.ts";

const check = validator(COMPLETION_CODES)({ schema: CompletionRequest, method: "POST", url: "/", httpPart: "body" });
const wrong = (change: object) =>
  (check({ model: "a/b", messages: [{ role: "user", content: "x" }], ...change }) as { error: unknown }).error;

test.each([
  [{ temperature: "1" }, null, "temperature", "temperature: must be a number."],
  [{ model: 1 }, null, "model", "model: must be a string of the form provider/model."],
  [{ messages: "x" }, null, "messages", "messages: must be an array of messages."],
  [
    { messages: [{ content: "x" }] },
    "invalid_role",
    "messages[0].role",
    "messages[0].role: must be one of system, developer, user, assistant, tool.",
  ],
  [{ tool_choice: "maybe" }, "invalid_tool_choice", "tool_choice", expect.stringContaining('must be "none"')],
  [
    { response_format: { type: "xml" } },
    "invalid_response_format",
    expect.stringContaining("response_format"),
    expect.stringContaining("must be an object whose type"),
  ],
  [{ stop: ["a", 1] }, null, "stop", "stop: must be a string or an array of strings."],
  [{ max_tokens: 0 }, null, "max_tokens", "max_tokens: must be at least 1."],
  [{ stream: "true" }, null, "stream", "stream: must be a boolean."],
])("the fields %j are refused with the name of the invalid one", (change, errorCode, param, message) => {
  expect(wrong(change)).toMatchObject({ status: 400, errorCode, param, message });
});

test("an unknown field of a strict object is refused with its name", () => {
  const strict = z.object({ rules: z.strictObject({ limits: z.strictObject({}).optional() }) });
  const refusing = validator([[/^rules/, "invalid_args"]])({ schema: strict, method: "POST", url: "/" });
  for (const [rules, param] of [
    [{ limit: 5 }, "rules.limit"],
    [{ limits: { most: 5 } }, "rules.limits.most"],
  ] as const)
    expect(refusing({ rules, other: 5 })).toEqual({
      error: expect.objectContaining({
        errorCode: "invalid_args",
        param,
        message: `${param}: there is no such field.`,
      }),
    });
});

test("half a million invalid elements give one refusal, as cheap as for one element", () => {
  const messages = Array.from({ length: 490_000 }, () => 0);
  expect(wrong({ messages })).toMatchObject({ param: "messages[0]" });
  let read = 0;
  const counted = new Proxy(messages, { get: (all, key) => (read++, Reflect.get(all, key)) });
  expect(wrong({ messages: counted })).toMatchObject({ param: "messages[0]" });
  expect(read).toBeLessThan(50);
});

test.each([
  [
    "metadata",
    PushTextBody,
    (wrong: object) => ({ text: "x", metadata: wrong }),
    "metadata: must have 16 keys at most.",
  ],
  [
    "a filter",
    SearchRequest,
    (wrong: object) => ({ query: "x", filter: { metadata: wrong } }),
    "filter.metadata: must",
  ],
  ["approvals", ChangeAgentBody, (wrong: object) => ({ tool_approvals: wrong }), "tool_approvals: must have 100 keys"],
])("25,000 wrong members of %s give one refusal, as cheap as for one", (_, schema, bodyOf, message) => {
  let read = 0;
  const members = Object.fromEntries(Array.from({ length: 25_000 }, (_, n) => [`k${n}`, null]));
  const counted = new Proxy(members, { get: (all, key) => (read++, Reflect.get(all, key)) });
  const refusing = validator()({ schema, method: "POST", url: "/", httpPart: "body" });
  const { error } = refusing(bodyOf(counted)) as { error: Error };
  expect(error.message).toContain(message);
  expect(read).toBeLessThan(50);
});

test("a body that is not an object is refused", () => {
  expect(check(null)).toMatchObject({
    error: { status: 400, param: null, message: "The request body: must be a JSON object." },
  });
});

test("a parameter of a query that is sent twice is refused in these words", () => {
  const query = validator()({ schema: PageQuery, method: "GET", url: "/", httpPart: "querystring" });
  expect(query({ limit: ["5", "6"] })).toEqual({
    error: expect.objectContaining({ status: 400, param: "limit", message: "limit: must be given once." }),
  });
});

test("unknown fields are dropped, and no value is coerced", () => {
  expect(check({ model: "a/b", messages: [{ role: "user", content: "x", name: "n" }], n: 3, logit_bias: {} })).toEqual({
    value: { model: "a/b", messages: [{ role: "user", content: "x" }] },
  });
});

test.each([
  [{}, 50, 0],
  [{ limit: "0", offset: "-1" }, 1, 0],
  [{ limit: "9999", offset: "20" }, 500, 20],
  [{ limit: "many", offset: "1e300" }, 50, 2_147_483_647],
])("the page query %j is corrected", (query, limit, offset) => expect(readPage(query)).toEqual({ limit, offset }));
