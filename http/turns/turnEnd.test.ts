import { expect, test } from "vitest";
import { NO_OUTPUT, NO_USAGE } from "#events/thread.ts";
import { errorHeaders } from "../base/errors.ts";
import { turnFailure } from "./turnEnd.ts";

const refused = (code: string | null) => ({ status: "refused" as const, code, message: "No.", retry_after_ms: 2_000 });

test("a turn whose worker could not read its data is a 503 with the time of a retry, and a refusal of the provider is a 502", () => {
  expect(turnFailure(refused("unavailable"))).toMatchObject({
    status: 503,
    errorCode: "unavailable",
    retryAfterMs: 2_000,
  });
  expect(turnFailure(refused(null))).toMatchObject({ status: 502, errorCode: null, retryAfterMs: 2_000 });
  expect(turnFailure(refused("model_not_found"))).toMatchObject({ status: 400, errorCode: "model_not_found" });
});

test("SDKs retry a turn that budgets have refused, but not one that they ended after rounds with tools", () => {
  expect(errorHeaders(turnFailure(refused("budget_reserved")))).toMatchObject({ "x-should-retry": "true" });
  const failed = {
    status: "failed" as const,
    code: "budget_reserved",
    message: "No.",
    said: NO_OUTPUT,
    usage: NO_USAGE,
  };
  const answer = turnFailure(failed);
  expect([answer.status, errorHeaders(answer)]).toEqual([429, { "x-should-retry": "false" }]);
});
