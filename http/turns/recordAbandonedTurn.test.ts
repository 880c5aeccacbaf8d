import { pino } from "pino";
import { expect, test } from "vitest";
import { recordAbandonedTurn } from "./recordAbandonedTurn.ts";

test("a turn without an answer is recorded once the database is back", async () => {
  const recorded: string[] = [];
  let failures = 2;
  const abandonedTurns = {
    add: async (command_id: string) => {
      if (failures-- > 0) throw new Error("away");
      recorded.push(command_id);
    },
  };
  await recordAbandonedTurn({ abandonedTurns, logger: pino({ level: "silent" }) } as never, { command_id: "c" });
  expect(recorded).toEqual([]);
  await expect.poll(() => recorded).toEqual(["c"]);
});
