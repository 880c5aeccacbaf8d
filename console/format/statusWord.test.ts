import { expect, test } from "vitest";
import { APPROVAL_STATUSES, RUN_STATUSES } from "../api/types.ts";
import { statusWord } from "./statusWord.ts";

test("what the API calls pending waits, for people, wherever it is shown", () => {
  for (const statuses of [RUN_STATUSES, APPROVAL_STATUSES])
    expect(statuses.map(statusWord)).toEqual(statuses.map((status) => status.replace("pending", "waiting")));
});

test("a status of two words has no underscore", () => {
  expect(statusWord("retry_wait")).toBe("retry wait");
});
