import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import type { TriggerRow } from "#projections/triggers/query.ts";
import { longestTurn } from "#test/computingTime.ts";
import type { Http } from "../base/deps.ts";
import { presentTriggers } from "./presentTriggers.ts";

/** Schedules for each minute of the 29th of February that is a Monday: the next five of them are a hundred years away. */
const RARE = Array.from({ length: 100 }, (_, n) => `${n % 60} ${Math.floor(n / 60)} 29 2 +MON`);

const newRow = (): TriggerRow => ({
  id: newId(),
  workflow_id: newId(),
  hook_token: null,
  secret_hint: null,
  run_as: null,
  enabled: true,
  name: "rare",
  default_args: "{}",
  created_at: new Date(),
  rotated_at: null,
  set_by: `person:${newId()}`,
  last_used_at: null,
  verify: null,
  headers: [],
  event: null,
});

test("a page of schedules whose times are slow to compute is made in parts, between which other work runs", async () => {
  const rows = RARE.map(newRow);
  const settings = (cron: string) => ({
    rule: { cron, time_zone: "Europe/Berlin" },
    jitter_seconds: 0,
    overlap: "skip",
    missed: "skip",
  });
  const stored = rows.map(({ id }, n) => ({
    trigger_id: id,
    settings: JSON.stringify(settings(RARE[n]!)),
    paused: false,
    next_at: new Date(),
    last_due_at: null,
  }));
  const http = {
    db: { query: async (sql: string) => (sql.includes("read.schedules") ? stored : []) },
    waitUntilCurrent: async () => {},
    settings: { BASE_URL: "http://x" },
  } as unknown as Http;
  let shown: Awaited<ReturnType<typeof presentTriggers>> = [];
  expect(await longestTurn(async () => (shown = await presentTriggers(http, rows)))).toBeLessThan(50);
  expect(shown.map(({ next_times }) => next_times?.length)).toEqual(RARE.map(() => 5));
});
