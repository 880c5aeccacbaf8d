import { expect, test } from "vitest";
import { startOfDay } from "../../format/days.ts";
import { toFilter } from "./filter.ts";

const NOW = new Date("2026-05-04T12:00:00").toISOString();

test("dates in the address become times, and rows newer than the list are excluded", () => {
  expect(toFilter({ status: "failed", from: "2026-05-04" }, NOW)).toEqual({
    status: "failed",
    from: startOfDay("2026-05-04"),
    to: NOW,
  });
  expect(toFilter({ to: "2026-05-02" }, NOW)).toEqual({ from: undefined, to: startOfDay("2026-05-03") });
  expect(toFilter({ to: "2026-05-04" }, NOW).to).toBe(NOW);
});
