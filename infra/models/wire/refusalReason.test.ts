import { expect, test } from "vitest";
import { refusalReason } from "./refusalReason.ts";

const error = (fields: object) => ({ error: fields });

test.each([
  [400, error({ code: "context_length_exceeded", type: "invalid_request_error" }), "", "context_length"],
  [400, error({ type: "exceed_context_size_error", code: 400 }), "", "context_length"],
  [400, error({ type: "x" }), "prompt is too long: 200251 tokens > 199999 maximum", "context_length"],
  [400, error({ type: "x" }), "input length and `max_tokens` exceed context limit: 1 + 2 > 2", "context_length"],
  [413, undefined, "Prompt is too long", "context_length"],
  [
    400,
    error({ code: 400, status: "INVALID_ARGUMENT" }),
    "The input token count (12) exceeds the maximum number of tokens allowed (10).",
    "context_length",
  ],
  [400, undefined, "This model's maximum context length is 4096 tokens.", "context_length"],
  [400, error({ code: "content_filter" }), "", "content_filter"],
  [400, [error({ code: "content_policy_violation" })], "", "content_filter"],
  [400, error({ code: "invalid_value" }), "max_tokens is too large", undefined],
  [429, error({ code: "content_filter" }), "prompt is too long", undefined],
  [400, "no JSON", "", undefined],
  [422, null, "", undefined],
] as const)("a refusal with %i, %o and the words %o is about %s", (status, body, message, reason) =>
  expect(refusalReason(status, body, message)).toBe(reason),
);
