import { expect, test } from "vitest";
import { APPROVAL_STATUSES, RUN_STATUSES } from "../api/types.ts";
import { statusWord } from "./statusWord.ts";

test("the status pending of the API is shown to people as waiting everywhere", () => {
  for (const statuses of [RUN_STATUSES, APPROVAL_STATUSES])
    expect(statuses.map(statusWord)).toEqual(statuses.map((status) => status.replace("pending", "waiting")));
});

test("a status of two words is shown without an underscore", () => {
  expect(statusWord("retry_wait")).toBe("retry wait");
});
