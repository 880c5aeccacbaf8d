import { expect, test } from "vitest";
import { BudgetSet, budgetStream } from "#events/budget.ts";
import { FileUploaded } from "#events/file.ts";
import { newId, streamName } from "#events/ids.ts";
import { RoundRequested, TurnCompleted } from "#events/thread.ts";
import { readSpending } from "#projections/budgets/readSpending.ts";
import { listRounds, sumFinal, sumHoldings, sumSpent, type SpentRow } from "#projections/budgets/query.ts";
import { followingFixture, message, said, turnStarted } from "./fixture.ts";

const usage = { prompt_tokens: 7, completion_tokens: 3, cached_tokens: 0, reasoning_tokens: 0, cost: "0.1" };

const WHOLE = { byModel: false, byUser: false };
const tokensOf = (rows: SpentRow[]): number => rows.reduce((sum, { tokens = 0 }) => sum + Number(tokens), 0);

test("incremental readings of a day's usage count each turn once", async () => {
  const f = await followingFixture();
  const [day, nextDay] = [new Date(0), new Date("9999-01-01")];
  const read = (from: Date) =>
    readSpending(f.db, f.organization, { day, nextDay, from, turnsToLookUp: [], with_rounds: [], splitBy: WHOLE });
  expect(await read(day)).toMatchObject({ early: [], late: [], split: null });

  let [from, complete] = [day, 0];
  for (let turns = 1; turns <= 6; turns++) {
    const turn_id = newId();
    await f.append(streamName("thread", newId()), [
      turnStarted(turn_id, [message("x")], "s"),
      TurnCompleted.of({ turn_id, attempt: 1, finish_reason: "stop", usage, model: "m" }, { said: said("") }),
    ]);
    await f.followed();
    // two turns of three are recorded before the moment until which the next reading is complete
    if (turns % 3 !== 0) await new Promise((resolve) => setTimeout(resolve, 300));
    const { early, late, split } = await read(from);
    expect(complete + tokensOf(early) + tokensOf(late)).toBe(turns * 10);
    expect(tokensOf((await read(day)).early) + tokensOf((await read(day)).late)).toBe(turns * 10);
    complete += tokensOf(early);
    if (split! > from) from = split!;
  }
  expect(complete).toBeGreaterThan(0);
});

test("a reading names the rounds of running turns, and later the turns among them that have ended", async () => {
  const f = await followingFixture();
  const [day, nextDay] = [new Date(0), new Date("9999-01-01")];
  const read = (from: Date, with_rounds: string[]) =>
    readSpending(f.db, f.organization, { day, nextDay, from, turnsToLookUp: [], with_rounds, splitBy: WHOLE });
  const [turn_id, other] = [newId(), newId()];
  const [thread, elsewhere] = [streamName("thread", newId()), streamName("thread", newId())];
  const round = { attempt: 1, round: 0, usage };
  const output = { ...said(""), calls: [] };
  for (const [stream, id] of [
    [thread, turn_id],
    [elsewhere, other],
  ] as const)
    await f.append(stream, [
      turnStarted(id, [message("x")], "s"),
      RoundRequested.of({ ...round, turn_id: id }, output),
    ]);
  await new Promise((resolve) => setTimeout(resolve, 300));
  await f.append(streamName("thread", newId()), [turnStarted(newId(), [message("x")], "s")]);
  await f.followed();
  const first = await read(day, []);
  expect(first.rounds.toSorted((a, b) => (a.turn_id < b.turn_id ? -1 : 1))).toMatchObject(
    [turn_id, other].toSorted().map((id) => ({ turn_id: id, tokens: 10, cost: "0.1" })),
  );
  expect([tokensOf(first.early), tokensOf(first.late)]).toEqual([20, 0]);
  await f.append(thread, [
    TurnCompleted.of({ turn_id, attempt: 1, finish_reason: "stop", usage, model: "m" }, { said: said("") }),
  ]);
  await f.followed();
  const second = await read(first.split!, [turn_id, other]);
  expect(second).toMatchObject({ without_rounds: [turn_id], rounds: [] });
  expect(tokensOf(second.early) + tokensOf(second.late)).toBe(10);
});

test("final costs and the rounds of running turns add up to the spending, and final costs never shrink", async () => {
  const f = await followingFixture();
  const end = new Date("9999-01-01");
  const read = async (among?: string[]) => {
    const rounds = await listRounds(f.db, f.organization, end, WHOLE, among);
    return [tokensOf(await sumFinal(f.db, f.organization, end, WHOLE)), tokensOf(rounds)];
  };
  const [turn_id, other] = [newId(), newId()];
  const [thread, elsewhere] = [streamName("thread", newId()), streamName("thread", newId())];
  const round = { attempt: 1, round: 0, usage };
  const output = { ...said(""), calls: [] };
  await f.append(thread, [turnStarted(turn_id, [message("x")], "s"), RoundRequested.of({ ...round, turn_id }, output)]);
  await f.append(elsewhere, [
    turnStarted(other, [message("x")], "s"),
    TurnCompleted.of({ turn_id: other, attempt: 1, finish_reason: "stop", usage, model: "m" }, { said: said("") }),
  ]);
  await f.followed();
  expect([await read(), await read([turn_id]), await read([other]), await read([])]).toEqual([
    [10, 10],
    [10, 10],
    [10, 0],
    [10, 0],
  ]);
  await f.append(thread, [
    TurnCompleted.of({ turn_id, attempt: 1, finish_reason: "stop", usage, model: "m" }, { said: said("") }),
  ]);
  await f.followed();
  expect(await read([turn_id])).toEqual([20, 0]);
});

test("a reading contains the cost of a running turn's rounds, of today and of earlier days", async () => {
  const f = await followingFixture();
  const read = async (day: Date) => {
    const [nextDay, none] = [new Date("9999-01-01"), { turnsToLookUp: [], with_rounds: [], splitBy: WHOLE }];
    return (await readSpending(f.db, f.organization, { day, nextDay, from: day, ...none })).open;
  };
  const turn_id = newId();
  const started = turnStarted(turn_id, [message("x")], "s");
  await f.append(streamName("thread", newId()), [
    { ...started, data: { ...started.data, reserved: "0.5" } },
    RoundRequested.of({ attempt: 1, round: 0, usage, turn_id }, { ...said(""), calls: [] }),
  ]);
  await f.followed();
  const turn = { turn_id, reserved: 500_000_000_000n, counted: 100_000_000_000n };
  expect(await read(new Date(0))).toMatchObject([{ ...turn, counted_today: 100_000_000_000n }]);
  expect(await read(new Date("2999-01-01"))).toMatchObject([{ ...turn, counted_today: 0n }]);
});

test("sums are split by external user only on demand, because an organization may have a million of them", async () => {
  const f = await followingFixture();
  for (const user_mark of ["a", "b"]) {
    const turn_id = newId();
    const started = turnStarted(turn_id, [message("x")], "s");
    await f.append(streamName("thread", newId()), [
      { ...started, data: { ...started.data, user_mark } },
      TurnCompleted.of({ turn_id, attempt: 1, finish_reason: "stop", usage, model: "m" }, { said: said("") }),
    ]);
  }
  await f.followed();
  const period = { from: new Date(0), to: new Date("9999-01-01") };
  const tokensByUser = async (byUser: boolean) => {
    const rows = await sumSpent(f.db, f.organization, period, { byModel: false, byUser });
    return Object.fromEntries(rows.map(({ user_mark, tokens }) => [String(user_mark), Number(tokens)]));
  };
  expect(await tokensByUser(false)).toEqual({ null: 20 });
  expect(await tokensByUser(true)).toEqual({ a: 10, b: 10 });
});

test("what is stored is summed by external user only if a budget is of users", async () => {
  const f = await followingFixture();
  for (const user_mark of ["a", "b"]) {
    const file_id = newId();
    const file = { file_id, bytes: 3, mime_type: "text/plain", blob: `blob/${file_id}`, scope: "s", user_mark };
    await f.append(streamName("file", file_id), [
      FileUploaded.of(file, { filename: "a", purpose: "assistants", sha256: "00" }),
    ]);
  }
  const bytesByUser = async () => {
    await f.followed();
    const { rows } = await sumHoldings(f.db, f.organization);
    return Object.fromEntries(rows.map(({ user_mark, bytes }) => [String(user_mark), bytes]));
  };
  expect(await bytesByUser()).toEqual({ null: 6 });
  await f.append(budgetStream(f.organization, "each-user"), [
    BudgetSet.of({ subject: "each-user", limits: { stored_bytes: 9 }, hard: true }),
  ]);
  expect(await bytesByUser()).toEqual({ a: 3, b: 3 });
});
