import { expect, test } from "vitest";
import { reachableWindow, requireReachable } from "./searchShape.ts";

test("a page beyond 10,000 passages is refused only if the search finds that many", () => {
  const late = { limit: 8, offset: 10_001 };
  expect(reachableWindow(late)).toEqual({ limit: 8, offset: 10_000 });
  expect(() => requireReachable(late, [])).not.toThrow();
  expect(() => requireReachable({ offset: 10_000 }, ["a passage"])).not.toThrow();
  expect(() => requireReachable(late, ["a passage"])).toThrow(
    expect.objectContaining({ status: 400, param: "offset", message: expect.stringContaining("10,000 at most") }),
  );
});
