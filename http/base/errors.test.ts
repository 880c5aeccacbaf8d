import { describe, expect, test } from "vitest";
import { Unavailable } from "#events/ports.ts";
import {
  ApiError,
  badGateway,
  errorBody,
  errorHeaders,
  rejectionError,
  internalError,
  statusForCode,
} from "./errors.ts";
import { toApiError } from "./toApiError.ts";

describe("the body of an error", () => {
  test("has message, type, param and code", () => {
    expect(errorBody(new ApiError("invalid_role", "No.", { param: "messages[0].role" }))).toEqual({
      error: { message: "No.", type: "invalid_request_error", param: "messages[0].role", code: "invalid_role" },
    });
  });

  test("omits a null param on request", () => {
    expect(errorBody(new ApiError("not_found", "No."), true)).toEqual({
      error: { message: "No.", type: "not_found_error", code: "not_found" },
    });
    expect(errorBody(new ApiError("invalid_name", "No.", { param: "name" }), true).error.param).toBe("name");
  });

  test("has no code for a 500 or 502, and no detail for a 500", () => {
    expect(errorBody(internalError(new Error("password=hunter2"))).error).toEqual({
      message: "The server had an error while processing the request.",
      type: "server_error",
      param: null,
      code: null,
    });
    expect(errorBody(badGateway("The provider said no.")).error).toEqual({
      message: "The provider said no.",
      type: "api_error",
      param: null,
      code: null,
    });
  });
});

test.each([
  ["missing_api_key", 401],
  ["session_required", 403],
  ["thread_not_found", 404],
  ["thread_busy", 409],
  ["file_too_large", 413],
  ["idempotency_key_reused", 422],
  ["unavailable", 503],
  ["model_not_found", 400],
])("the code %s has the status %i", (code, status) => expect(statusForCode(code)).toBe(status));

test("a command that failed in the service is a 500 without code and detail", () => {
  const error = rejectionError({ code: "internal", message: "The command could not be handled" });
  expect(error.status).toBe(500);
  expect(errorBody(error)).toEqual(errorBody(internalError(undefined)));
});

describe("the retry headers of an error", () => {
  test("are set on 409, 429 and 5xx", () => {
    expect(errorHeaders(new ApiError("thread_busy", ""))).toEqual({
      "retry-after": "1",
      "retry-after-ms": "1000",
      "x-should-retry": "true",
    });
    expect(errorHeaders(new ApiError("too_many_attempts", "", { retryAfterMs: 1_500 }))).toMatchObject({
      "retry-after": "2",
      "retry-after-ms": "1500",
    });
    expect(errorHeaders(badGateway(""))).toEqual({ "x-should-retry": "false" });
    expect(errorHeaders(badGateway("", undefined, 20_000))).toEqual({
      "retry-after": "20",
      "retry-after-ms": "20000",
      "x-should-retry": "true",
    });
    expect(errorHeaders(new ApiError("invalid_role", ""))).toEqual({});
    expect(errorHeaders(new ApiError("workflow_disabled", ""))).toEqual({ "x-should-retry": "false" });
  });
});

test("the headers of a limit of 0 do not suggest a retry", () =>
  expect(errorHeaders(new ApiError("rate_limited", "", { retryAfterMs: 1_000, isFinal: true }))).toEqual({
    "x-should-retry": "false",
  }));

test("the headers of a used-up budget do not suggest a retry, whether or not it resets", () => {
  const spent = (retryAfterMs?: number) =>
    errorHeaders(new ApiError("budget_exceeded", "", retryAfterMs === undefined ? {} : { retryAfterMs }));
  expect(spent(60_000)).toEqual({ "retry-after": "60", "x-should-retry": "false" });
  expect(spent()).toEqual({ "x-should-retry": "false" });
});

describe("an error of the framework", () => {
  test.each([
    [new Unavailable("full", { retry_after_ms: 3_000 }), 503],
    [Object.assign(new Error(), { code: "FST_ERR_CTP_BODY_TOO_LARGE", statusCode: 413 }), 413],
    [Object.assign(new Error("odd"), { statusCode: 418 }), 418],
    [new TypeError("x is not a function"), 500],
    ["a string", 500],
    [undefined, 500],
  ])("%s is a %i", (failure, status) => expect(toApiError(failure).status).toBe(status));
});
