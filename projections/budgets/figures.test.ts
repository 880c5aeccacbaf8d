import fc from "fast-check";
import { expect, test } from "vitest";
import { createFigures } from "./figures.ts";
import type { SpentRow } from "./query.ts";

const CLOCK_STEP_MS = 250;
const NOON = Date.UTC(2026, 10, 25, 12);
const BUDGET = { subject: "organization", limits: '{"tokens_per_day":10}', hard: true };
const spender = { principal: "key:k", project_id: null, agent_id: null, user_mark: null };

interface LogEntry {
  at: number;
  tokens: number;
  turn: string;
  /** The end of a turn replaces its rounds. */
  kind: "round" | "ended";
}

/** A read model of usage that contains the first `followed` events, and counts the rows that were summed. */
function openUsage() {
  const log: LogEntry[] = [];
  const state = { followed: 0, summed: 0, budgets: [BUDGET] };
  const rowsNow = () => {
    const followed = log.slice(0, state.followed);
    const ended = new Set(followed.flatMap(({ kind, turn }) => (kind === "ended" ? [turn] : [])));
    return followed.filter(({ kind, turn }) => kind === "ended" || !ended.has(turn));
  };
  const rowsBetween = (from: Date, to: Date) => rowsNow().filter(({ at }) => at >= from.getTime() && at < to.getTime());
  const sumBetween = (from: Date, to: Date): SpentRow[] => {
    const rows = rowsBetween(from, to);
    state.summed += rows.length;
    return rows.length === 0 ? [] : [{ ...spender, tokens: rows.reduce((sum, { tokens }) => sum + tokens, 0) }];
  };
  const readDay = ([, from, nextDay, , , with_rounds]: [string, Date, Date, unknown, unknown, string[]]) => {
    const split = state.followed === 0 ? null : new Date(log[state.followed - 1]!.at - CLOCK_STEP_MS);
    const middle = split && split > from ? split : from;
    const [early, late] = [sumBetween(from, middle), sumBetween(middle, nextDay)];
    const rounds = rowsBetween(from, middle)
      .filter(({ kind }) => kind === "round")
      .map(({ turn, tokens }) => ({ ...spender, turn_id: turn, tokens }));
    const left = new Set(rowsNow().flatMap(({ kind, turn }) => (kind === "round" ? [turn] : [])));
    const without_rounds = with_rounds.filter((turn) => !left.has(turn));
    const is_complete = state.followed === log.length;
    return { position: state.followed, split, is_complete, early, late, rounds, without_rounds, open: [], settled: [] };
  };
  const query = async (text: string, values?: unknown[]) => {
    if (text.includes("usage_reservations")) return [readDay(values as never)] as never[];
    return (text.includes("read.budgets") ? state.budgets : []) as never[];
  };
  const { read } = createFigures({ db: { query } });
  return {
    log,
    state,
    contained: () => BigInt(rowsNow().reduce((sum, { tokens }) => sum + tokens, 0)),
    budgetsAt: async (at: number) => (await read("o", at)).budgets,
    read: async (at: number) => (await read("o", at)).today.get("organization")?.tokens ?? 0n,
  };
}

test("each event that the read model contains counts once, however it is read and however late it follows", async () => {
  const moment = fc.record({
    ms: fc.integer({ min: 1, max: 20_000 }),
    tokens: fc.integer({ min: 1, max: 1_000 }),
    lag: fc.integer({ min: 0, max: 5 }),
    turn: fc.constantFrom("a", "b", "c", "d"),
    kind: fc.constantFrom("round" as const, "ended" as const),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(moment, { maxLength: 40 }), async (moments) => {
      const { log, state, contained, read } = openUsage();
      let now = NOON;
      for (const [n, { ms, tokens, lag, turn, kind }] of moments.entries()) {
        now += ms;
        const ends = log.filter((one) => one.kind === "ended" && one.turn.startsWith(turn)).length;
        log.push({ at: now, tokens, turn: `${turn}${ends}`, kind });
        state.followed = Math.max(state.followed, log.length - lag);
        expect(await read(now + n)).toBe(contained());
      }
    }),
  );
});

test("rows that were read earlier are summed once a minute, and the rounds of a turn count only until it ends", async () => {
  const { log, state, contained, read } = openUsage();
  for (let n = 0; n < 1_000; n++) log.push({ at: NOON + n, tokens: 1, turn: `${n}`, kind: "ended" });
  log.push({ at: NOON + 1_000, tokens: 7, turn: "x", kind: "round" });
  log.push({ at: NOON + 10_000, tokens: 1, turn: "1000", kind: "ended" });
  state.followed = log.length;
  const summedAt = async (ms: number) => {
    const before = state.summed;
    expect(await read(NOON + 10_000 + ms)).toBe(contained());
    return state.summed - before;
  };
  expect(await summedAt(0)).toBe(1_002);
  expect(await summedAt(1_000)).toBe(1);
  log.push({ at: NOON + 12_000, tokens: 9, turn: "x", kind: "ended" });
  state.followed = log.length;
  expect([contained(), await summedAt(2_000), await summedAt(59_000)]).toEqual([1_010n, 2, 1]);
  expect(await summedAt(61_000)).toBe(1_002);
});

test("events that come after a step back of the database's clock are missing in one reading at most", async () => {
  const { log, state, contained, read } = openUsage();
  const readAfter = async (ms: number, event: { at: number; tokens: number }) => {
    log.push({ ...event, turn: `${log.length}`, kind: "ended" });
    state.followed = log.length;
    return read(NOON + ms);
  };
  expect(await readAfter(10_000, { at: NOON + 10_000, tokens: 1 })).toBe(1n);
  expect(await readAfter(11_000, { at: NOON + 8_000, tokens: 2 })).toBe(1n);
  expect([await read(NOON + 12_000), contained()]).toEqual([3n, 3n]);
});

test("budgets that are read again have the same rows until one of them changes", async () => {
  const { state, budgetsAt } = openUsage();
  const first = await budgetsAt(NOON);
  expect(await budgetsAt(NOON + 1_000)).toBe(first);
  state.budgets = [{ ...BUDGET, hard: false }];
  const changed = await budgetsAt(NOON + 2_000);
  expect([changed === first, changed[0]?.hard]).toEqual([false, false]);
});
