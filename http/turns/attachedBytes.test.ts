import { expect, test, vi } from "vitest";
import type { Spender } from "#projections/budgets/subjects.ts";
import { countAttachedBytes } from "./attachedBytes.ts";

test("the bytes of a turn that fails before it is recorded are free again", async () => {
  const withdraw = vi.fn<() => void>();
  const admitted = { reached: () => undefined, settle: () => {}, withdraw };
  const budgets = { admit: async () => ({ admitted }) };
  const room = countAttachedBytes({ budgets } as never, { addHeaders() {} }, {} as Spender);
  const storing = room.during(async () => {
    await room.admit(9);
    throw new Error("The file was deleted.");
  });
  await expect(storing).rejects.toThrow("The file was deleted.");
  expect(withdraw).toHaveBeenCalledOnce();
});
