import { expect, test, vi } from "vitest";
import type { TurnToRun } from "#services/turns/turnToRun.ts";
import { openBudgets } from "./budgets.ts";
import { openTurnBudgets } from "./turnBudgets.ts";

const turn = { organization_id: "o", turn_id: "t", attempt: 2, principal: "key:k", model: "p/m", reserved: "1" };
const size = { bytes: 10, pictures: 0, max_output_tokens: null };

async function holdFor(spent: string) {
  const growReservation = vi.fn(async () => "held" as const);
  const rates = { growReservation, unsettled: () => [], reservationOf: () => ({ reserved: 0n, attempt: 1 }) };
  const needs = { db: { query: async () => [] }, logger: { warn: () => {} }, rates, settings: {} };
  const budgets = openBudgets(needs as never, async () => ({ position: 0, repeated: false }));
  const { reserveMoney } = openTurnBudgets({ rates: rates as never }, budgets);
  const next = { size, spent, isFirst: true };
  await reserveMoney(turn as unknown as TurnToRun, next, new AbortController().signal);
  return growReservation.mock.calls.map(([, , wanted]: any) => wanted.spent);
}

test("the first request of a turn needs no more than the reservation of its start, unless a lost worker has asked before", async () => {
  expect(await holdFor("0")).toEqual([]);
  expect(await holdFor("0.25")).toEqual([250_000_000_000n]);
});
