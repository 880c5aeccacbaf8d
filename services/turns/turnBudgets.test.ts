import { expect, test, vi } from "vitest";
import { NO_OUTPUT } from "#events/thread.ts";
import { modelRequest } from "#test/doubles/modelRequest.ts";
import { USAGE } from "#test/doubles/turnStage.ts";
import { askWithinBudget, type NextRequest } from "./turnBudgets.ts";
import type { Round } from "./round.ts";
import type { TurnToRun } from "./turnToRun.ts";

test("before each request of a turn, budgets learn the cost of its rounds and of its replaced answers", async () => {
  const asked: Pick<NextRequest, "spent" | "isFirst">[] = [];
  const reserveMoney = async (_: unknown, { spent, isFirst }: NextRequest) => void asked.push({ spent, isFirst });
  const answer = { output: NO_OUTPUT, calls: [], finish_reason: "stop" as const, usage: USAGE };
  const model = vi.fn(async () => answer);
  const replaced = [{ usage: { ...USAGE, cost: "0.25" } }];
  const turn = { reserved: "1" } as TurnToRun;
  const ask = askWithinBudget(reserveMoney, turn, { ask: model, replaced });
  const { signal } = new AbortController();
  const round: Round = { ...NO_OUTPUT, calls: [], usage: { ...USAGE, cost: "0.5" }, results: [] };
  await ask(modelRequest("Hi"), [], signal, () => {});
  await ask(modelRequest("Hi"), [round], signal, () => {});
  expect(asked).toEqual([
    { spent: "0.25", isFirst: true },
    { spent: "0.75", isFirst: false },
  ]);
  expect(model).toHaveBeenCalledTimes(2);
});
