import { pino } from "pino";
import { expect, test } from "vitest";
import { recordAbandonedTurn, recordRefusedTurn } from "./recordAbandonedTurn.ts";

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

test("a refusal does not wait for a slow database to record its turn, which happens all the same", async () => {
  const recorded: string[] = [];
  const database = Promise.withResolvers<void>();
  const abandonedTurns = {
    add: async (command_id: string) => {
      await database.promise;
      recorded.push(command_id);
    },
  };
  await recordRefusedTurn({ abandonedTurns, logger: pino({ level: "silent" }) } as never, { command_id: "c" });
  expect(recorded).toEqual([]);
  database.resolve();
  await expect.poll(() => recorded).toEqual(["c"]);
});
