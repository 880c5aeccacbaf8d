import { expect, test } from "vitest";
import { UnsettledTotals } from "./unsettledTotals.ts";

test("a subject's total is shared by its turns, and forgotten with the last of them", () => {
  const totals = new UnsettledTotals();
  const [mine, ours] = totals.enter(["key:k", "organization"]);
  const [also] = totals.enter(["organization"]);
  expect(also).toBe(ours);
  ours!.ended += 3n;
  expect([totals.of("organization"), totals.of("key:k")]).toEqual([
    { ended: 3n, reserved: 0n },
    { ended: 0n, reserved: 0n },
  ]);
  totals.leave(["organization"], [also!]);
  expect(totals.of("organization").ended).toBe(3n);
  totals.leave(["key:k", "organization"], [mine!, ours!]);
  expect(totals.of("organization").ended).toBe(0n);
  expect(totals.enter(["organization"])[0]).not.toBe(ours);
});
