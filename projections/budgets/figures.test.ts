import fc from "fast-check";
import { expect, test } from "vitest";
import { createFigures } from "./figures.ts";
import type { SpentRow } from "./query.ts";

const CLOCK_STEP_MS = 250;
const NOON = Date.UTC(2026, 10, 25, 12);
const BUDGET = { subject: "organization", limits: '{"tokens_per_day":10}', hard: true };
const spender = { principal: "key:k", project_id: null, agent_id: null, user_mark: null };

/** A read model of usage that contains the first `followed` events, and counts the rows that were summed. */
function openUsage() {
  const log: { at: number; tokens: number }[] = [];
  const state = { followed: 0, summed: 0 };
  const sumBetween = (from: Date, to: Date): SpentRow[] => {
    const rows = log.slice(0, state.followed).filter(({ at }) => at >= from.getTime() && at < to.getTime());
    state.summed += rows.length;
    return rows.length === 0 ? [] : [{ ...spender, tokens: rows.reduce((sum, { tokens }) => sum + tokens, 0) }];
  };
  const readDay = ([, from, nextDay]: [string, Date, Date]) => {
    const split = state.followed === 0 ? null : new Date(log[state.followed - 1]!.at - CLOCK_STEP_MS);
    const middle = split && split > from ? split : from;
    const [early, late] = [sumBetween(from, middle), sumBetween(middle, nextDay)];
    return { position: state.followed, split, early, late, open: [], settled: [] };
  };
  const query = async (text: string, values?: unknown[]) => {
    if (text.includes("usage_reservations")) return [readDay(values as never)] as never[];
    return (text.includes("read.budgets") ? [BUDGET] : []) as never[];
  };
  const { read } = createFigures({ db: { query } });
  return {
    log,
    state,
    read: async (at: number, isFar: boolean) => (await read("o", at, isFar)).today.get("organization")?.tokens ?? 0n,
  };
}

test("each event that the read model contains counts once, however it is read and however late it follows", async () => {
  const moment = fc.record({
    ms: fc.integer({ min: 1, max: 20_000 }),
    tokens: fc.integer({ min: 1, max: 1_000 }),
    lag: fc.integer({ min: 0, max: 5 }),
    isFar: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(moment, { maxLength: 40 }), async (moments) => {
      const { log, state, read } = openUsage();
      let now = NOON;
      for (const { ms, tokens, lag, isFar } of moments) {
        now += ms;
        log.push({ at: now, tokens });
        state.followed = Math.max(state.followed, log.length - lag);
        const contained = log.slice(0, state.followed).reduce((sum, one) => sum + one.tokens, 0);
        expect(await read(now, isFar)).toBe(BigInt(contained));
      }
    }),
  );
});

test("far from the limits, the rows of earlier readings are summed once a minute", async () => {
  const { log, state, read } = openUsage();
  for (let n = 0; n < 1_000; n++) log.push({ at: NOON + n, tokens: 1 });
  state.followed = log.length;
  const at = NOON + 10_000;
  log.push({ at, tokens: 1 });
  state.followed = log.length;
  const summedAt = async (ms: number, isFar: boolean) => {
    const before = state.summed;
    expect(await read(at + ms, isFar)).toBe(1_001n);
    return state.summed - before;
  };
  expect(await summedAt(0, true)).toBe(1_001);
  expect(await summedAt(1_000, true)).toBe(1);
  expect([await summedAt(2_000, true), await summedAt(59_000, true)]).toEqual([1, 1]);
  expect(await summedAt(61_000, true)).toBe(1_001);
  expect(await summedAt(62_000, false)).toBe(1_001);
});
