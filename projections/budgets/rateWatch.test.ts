import { afterEach, expect, test, vi } from "vitest";
import type { BudgetLimits } from "#events/budget.ts";
import type { TurnNews } from "#events/turnNews.ts";
import { toPicodollars } from "#events/money.ts";
import { NO_AMOUNTS } from "./limits.ts";
import type { Spender } from "./subjects.ts";
import { watchRates, type RateAnswer, type RateWatch } from "./rateWatch.ts";

type Listener = (news: TurnNews & { process: string }) => void;
const opened: RateWatch[] = [];
afterEach(() => {
  for (const watch of opened.splice(0)) watch.close();
});

const spender: Spender = {
  organization_id: "o",
  principal: "key:k",
  project_id: null,
  agent_id: null,
  user_mark: "mark",
};
const AT = new Date();
const budget = (limits: BudgetLimits, subject = "organization", hard = true) => [
  { subject, limits, hard, created_at: AT, updated_at: AT },
];

/** Processes that get each other's news after some milliseconds, with a log of these turns. */
function openProcesses(
  count: number,
  { delay_ms = 2, recorded = [] as object[], wire = { isCut: false, sent: [] as TurnNews[] } } = {},
) {
  const listeners = new Set<{ process: number; listener: Listener }>();
  const find = (ids: string[]) => recorded.filter((turn) => ids.includes((turn as { turn_id: string }).turn_id));
  const db = {
    query: async (text: string, values: unknown[] = []) =>
      (text.includes("usage_sources") ? recorded : find(values[1] as string[])) as never,
  };
  return Array.from({ length: count }, (_, process) => {
    const exchange = {
      publish(_organization: string, news: TurnNews & { process: string }) {
        wire.sent.push(news);
        for (const other of wire.isCut ? [] : listeners)
          if (other.process !== process) setTimeout(() => other.listener(news), delay_ms);
      },
      subscribe(_organization: string, listener: Listener) {
        const entry = { process, listener };
        listeners.add(entry);
        return () => listeners.delete(entry);
      },
    };
    const watch = watchRates({
      db,
      exchange,
      process: `p${process}`,
      onError: (error) => expect(error).toBeUndefined(),
    });
    opened.push(watch);
    return watch;
  });
}

/** Waits until every process knows this many turns. */
const haveHeard = (processes: RateWatch[], limits: BudgetLimits, count: number) =>
  vi.waitFor(async () => {
    for (const watch of processes) expect((await watch.statuses("o", budget(limits)))[0]!.used).toBe(count);
  });

let number = 0;
const admit = (
  watch: RateWatch,
  limits: BudgetLimits,
  { tokens = 0, as = spender, subject = "organization", hard = true, streamed = false } = {},
) =>
  watch.admit({ budgets: budget(limits, subject, hard) }, as, { turn_id: `t${number++}`, tokens, streamed, cost: 0n });
function admitted(answer: RateAnswer) {
  if (!("admitted" in answer)) throw new Error("refused");
  return answer.admitted;
}
const isAdmitted = (answer: RateAnswer) => "admitted" in answer;

test.each([1, 2, 4])("a burst over %i processes gets the limit, and 5 % more at most", async (count) => {
  const processes = openProcesses(count);
  const limit = 100;
  // each has begun to count
  const limits = { requests_per_minute: limit + count };
  await Promise.all(processes.map((watch) => admit(watch, limits)));
  await haveHeard(processes, limits, count);
  const answers = await Promise.all(Array.from({ length: 400 }, (_, n) => admit(processes[n % count]!, limits)));
  const passed = answers.filter(isAdmitted).length;
  expect(passed).toBeGreaterThanOrEqual(limit);
  expect(passed).toBeLessThanOrEqual(limit * 1.05);
});

test("one process may use the whole limit while the others are idle", async () => {
  const [busy, idle] = openProcesses(2);
  await admit(busy!, { requests_per_minute: 62 });
  await admit(idle!, { requests_per_minute: 62 });
  await haveHeard([busy!, idle!], { requests_per_minute: 62 }, 2);
  const answers = await Promise.all(Array.from({ length: 100 }, () => admit(busy!, { requests_per_minute: 62 })));
  expect(answers.filter(isAdmitted).length).toBe(60);
});

test("an answer has OpenAI's headers, and a refusal the figure that is shown", async () => {
  const [watch] = openProcesses(1);
  const limits = { requests_per_minute: 5, tokens_per_minute: 1_000 };
  const first = admitted(await admit(watch!, limits, { tokens: 100 }));
  expect(first.headers).toEqual({
    "x-ratelimit-limit-requests": "5",
    "x-ratelimit-remaining-requests": "4",
    "x-ratelimit-reset-requests": expect.stringMatching(/^(59|60)s$/),
    "x-ratelimit-limit-tokens": "1000",
    "x-ratelimit-remaining-tokens": "900",
    "x-ratelimit-reset-tokens": "0s",
  });
  first.end({ tokens: 950 });
  const second = admitted(await admit(watch!, limits));
  expect(second.headers).toMatchObject({
    "x-ratelimit-remaining-tokens": "50",
    "x-ratelimit-warning": "organization; tokens_per_minute; 950 of 1000",
  });
  const refused = await admit(watch!, limits, { tokens: 51 });
  if (!("refused" in refused)) throw new Error("not refused");
  const { message, retry_after_ms, headers } = refused.refused;
  expect(message).toBe(
    "The limit tokens_per_minute of organization is reached: 950 of 1000 tokens of this minute are used.",
  );
  expect(retry_after_ms).toBeGreaterThan(58_000);
  expect(headers["x-ratelimit-remaining-tokens"]).toBe("50");
  expect(await watch!.statuses("o", budget(limits))).toMatchObject([{ used: 2 }, { used: 950 }]);
});

test("headers show the hard limit, which refuses, also while a soft one has less left", async () => {
  const [watch] = openProcesses(1);
  const begin = (turn_id: string, limits: ReturnType<typeof budget>) =>
    watch!.admit({ budgets: limits }, spender, { turn_id, tokens: 0, streamed: false, cost: 0n });
  const soft = budget({ requests_per_minute: 1 }, "organization", false);
  const both = [...soft, ...budget({ requests_per_minute: 3 }, "key:k")];
  await begin("s1", both);
  const second = admitted(await begin("s2", both));
  expect(second.headers).toMatchObject({
    "x-ratelimit-limit-requests": "3",
    "x-ratelimit-remaining-requests": "1",
    "x-ratelimit-warning": "organization; requests_per_minute; 2 of 1",
  });
  expect(admitted(await begin("s3", soft)).headers).toMatchObject({ "x-ratelimit-limit-requests": "1" });
});

test("headers of a refusal have the figures of the limit that its message names", async () => {
  const start = Date.now();
  vi.useFakeTimers({ now: start, toFake: ["Date"] });
  try {
    const [watch] = openProcesses(1);
    const budgets = [...budget({ tokens_per_minute: 100 }), ...budget({ tokens_per_minute: 10 }, "key:k")];
    const begin = (turn_id: string, tokens: number, principal: Spender["principal"] = "key:k") =>
      watch!.admit({ budgets }, { ...spender, principal }, { turn_id, tokens, streamed: false, cost: 0n });
    admitted(await begin("f1", 0)).end({ tokens: 10 });
    vi.setSystemTime(start + 30_000);
    admitted(await begin("f2", 0, "key:other")).end({ tokens: 40 });
    const refused = await begin("f3", 70);
    if (!("refused" in refused)) throw new Error("not refused");
    expect(refused.refused.message).toContain("tokens_per_minute of organization is reached: 50 of 100");
    expect(refused.refused.headers).toMatchObject({
      "x-ratelimit-limit-tokens": "100",
      "x-ratelimit-remaining-tokens": "50",
    });
  } finally {
    vi.useRealTimers();
  }
});

test("a limit of 0 reports that no retry helps, even if another limit will have room", async () => {
  const [watch] = openProcesses(1);
  admitted(await admit(watch!, { concurrent_turns: 1 }));
  const refusal = async (limits: BudgetLimits) => {
    const refused = await admit(watch!, limits);
    if (!("refused" in refused)) throw new Error("not refused");
    return refused.refused;
  };
  expect(await refusal({ concurrent_turns: 1 })).toMatchObject({ isFinal: false, retry_after_ms: 1_000 });
  for (const name of ["requests_per_minute", "tokens_per_minute", "concurrent_turns"] as const)
    expect(await refusal({ concurrent_turns: 1, [name]: 0 })).toMatchObject({
      isFinal: true,
      message: `The limit ${name} of organization is 0: nothing begins until an administrator raises it.`,
    });
});

test("a refusal names the limit that has room last, because an earlier retry would be refused, too", async () => {
  const started_at = new Date(Date.now() - 50_000);
  const usage = '{"prompt_tokens":30,"completion_tokens":12}';
  const [watch] = openProcesses(1, {
    recorded: [{ ...spender, turn_id: "r", streamed: false, attempt: 1, started_at, ended_at: new Date(), usage }],
  });
  const refused = await admit(watch!, { requests_per_minute: 1, tokens_per_minute: 40, concurrent_turns: 1 });
  if (!("refused" in refused)) throw new Error("not refused");
  expect(refused.refused.message).toContain("The limit tokens_per_minute");
  expect(refused.refused.retry_after_ms).toBeGreaterThan(50_000);
});

test("a place for a concurrent turn is free again as soon as a turn ends, or does not begin", async () => {
  const [here, there] = openProcesses(2);
  const limits = { concurrent_turns: 2 };
  const first = admitted(await admit(here!, limits));
  await haveHeard([here!, there!], limits, 1);
  await admit(there!, limits);
  await haveHeard([here!, there!], limits, 2);
  expect(isAdmitted(await admit(here!, limits))).toBe(false);
  first.end({ tokens: 3 });
  const third = admitted(await admit(here!, limits));
  expect(isAdmitted(await admit(here!, limits))).toBe(false);
  third.withdraw();
  expect(isAdmitted(await admit(here!, limits))).toBe(true);
});

test("a process that starts knows the turns of the last minute from the log", async () => {
  const row = { ...spender, started_at: AT, ended_at: AT, usage: '{"prompt_tokens":30,"completion_tokens":12}' };
  const [watch] = openProcesses(1, {
    recorded: [
      { ...row, turn_id: "r1" },
      // an estimate of 8 tokens
      { ...row, turn_id: "r2", ended_at: null, input_length: 32 },
    ],
  });
  const limits = { requests_per_minute: 2, tokens_per_minute: 100, concurrent_turns: 1 };
  expect(await watch!.statuses("o", budget(limits))).toMatchObject([{ used: 2 }, { used: 50 }, { used: 1 }]);
  expect(isAdmitted(await admit(watch!, limits))).toBe(false);
});

test("a new limit counts the turns that began before it, when no limit applied to them", async () => {
  const recorded: object[] = [];
  const [watch] = openProcesses(1, { recorded });
  const limits = { requests_per_minute: 2, concurrent_turns: 1 };
  // the organization is followed, for the limit of another key
  await admit(watch!, limits, { subject: "key:other", as: { ...spender, principal: "key:other" } });
  expect(admitted(await admit(watch!, limits, { subject: "key:other" })).headers).toEqual({});
  recorded.push({
    ...spender,
    turn_id: "before",
    started_at: new Date(),
    streamed: false,
    attempt: 1,
    ended_at: null,
    parked_at: null,
    usage: null,
  });
  expect(isAdmitted(await admit(watch!, limits, { subject: "key:k" }))).toBe(false);
  expect(await watch!.statuses("o", budget(limits, "key:k"))).toMatchObject([{ used: 1 }, { used: 1 }]);
});

test("a new limit counts a running turn that no read model has yet", async () => {
  const [watch] = openProcesses(1);
  const begin = (turn_id: string, limits: BudgetLimits) =>
    watch!.admit({ budgets: budget(limits), spending: spendingOf(1) }, spender, {
      turn_id,
      tokens: 7,
      streamed: false,
      cost: 1n,
    });
  const running = admitted(await begin("m1", { cost_per_day: "3" }));
  const both = { cost_per_day: "3", concurrent_turns: 1 };
  expect(await begin("m2", both)).toMatchObject({ refused: { code: "rate_limited" } });
  running.end({ tokens: 6, cost: "0" });
  admitted(await begin("m3", both));
});

test("a new limit counts the running turns that began when only money was limited", async () => {
  const recorded: object[] = [];
  const [watch] = openProcesses(1, { recorded });
  const begin = (turn_id: string, limits: BudgetLimits, subject = "organization") =>
    watch!.admit({ budgets: budget(limits, subject), spending: spendingOf(1) }, spender, {
      turn_id,
      tokens: 7,
      streamed: false,
      cost: 1n,
    });
  const money = { cost_per_day: "3" };
  const first = admitted(await begin("m1", money));
  admitted(await begin("m2", money)).end({ tokens: 5, cost: "0" });
  expect([first.reserved, first.headers]).toEqual(["0.000000000001", {}]);
  const row = { ...spender, started_at: new Date(), streamed: false, attempt: 1, parked_at: null };
  recorded.push({ ...row, turn_id: "m1", ended_at: null, usage: null });
  recorded.push({ ...row, turn_id: "m2", ended_at: new Date(), usage: '{"prompt_tokens":2,"completion_tokens":3}' });
  const both = { ...money, concurrent_turns: 1, tokens_per_minute: 100 };
  expect(await begin("m3", both)).toMatchObject({ refused: { code: "rate_limited" } });
  first.end({ tokens: 6, cost: "0" });
  const headers = { "x-ratelimit-remaining-tokens": "82" };
  expect(admitted(await begin("m4", both)).headers).toMatchObject(headers);
});

test("a process that starts knows of turns that ended before the read models have them", async () => {
  const [first, late] = openProcesses(2);
  const limits = { requests_per_minute: 2, tokens_per_minute: 1_000 };
  admitted(await admit(first!, limits)).end({ tokens: 300 });
  admitted(await admit(first!, limits)).withdraw();
  admitted(await admit(late!, limits));
  await haveHeard([first!, late!], limits, 2);
  const tokens = (await late!.statuses("o", budget(limits))).find(({ name }) => name === "tokens_per_minute");
  expect(tokens).toMatchObject({ used: 300 });
});

test("a turn that was withdrawn and begins again is counted", async () => {
  const [watch] = openProcesses(1);
  const limits = { concurrent_turns: 1 };
  const again = { turn_id: "again", tokens: 0, streamed: false, cost: 0n };
  const begin = () => watch!.admit({ budgets: budget(limits) }, spender, again);
  admitted(await begin()).withdraw();
  admitted(await begin());
  expect(isAdmitted(await admit(watch!, limits))).toBe(false);
});

test("a process without other processes sends no news of its turns", async () => {
  const wire = { isCut: false, sent: [] as TurnNews[] };
  const [watch] = openProcesses(1, { wire });
  for (let n = 0; n < 3; n++) admitted(await admit(watch!, { requests_per_minute: 9 })).end({ tokens: 1 });
  expect(wire.sent).toEqual([expect.objectContaining({ kind: "hello" })]);
});

test("processes that could not reach each other for long exchange the news that they missed", async () => {
  vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval", "setTimeout", "clearTimeout"] });
  try {
    const wire = { isCut: false, sent: [] as TurnNews[] };
    const [here, there] = openProcesses(2, { wire });
    const limits = { requests_per_minute: 9, tokens_per_minute: 1_000 };
    for (const watch of [here!, there!]) await admit(watch, limits);
    await haveHeard([here!, there!], limits, 2);
    wire.isCut = true;
    await vi.advanceTimersByTimeAsync(8_000);
    const { length } = wire.sent;
    admitted(await admit(here!, limits)).end({ tokens: 30 });
    await admit(there!, limits);
    expect(wire.sent.length).toBe(length);
    wire.isCut = false;
    await vi.advanceTimersByTimeAsync(2_100);
    await haveHeard([here!, there!], limits, 4);
    for (const watch of [here!, there!])
      expect(await watch.statuses("o", budget(limits))).toMatchObject([{ used: 4 }, { used: 30 }]);
  } finally {
    vi.useRealTimers();
  }
});

test("each user has the limit of each-user alone, and requests without a user have none", async () => {
  const [watch] = openProcesses(1);
  const ask = (user_mark: string | null) =>
    admit(watch!, { requests_per_minute: 1 }, { subject: "each-user", as: { ...spender, user_mark } });
  const answers = [];
  for (const user of ["a", "b", "a", null, null]) answers.push(isAdmitted(await ask(user)));
  expect(answers).toEqual([true, true, false, true, true]);
});

test("a soft limit warns and refuses nothing, and a limit of other spenders counts nothing", async () => {
  const [watch] = openProcesses(1);
  for (const _ of [1, 2]) await admit(watch!, { requests_per_minute: 1 }, { hard: false });
  const soft = admitted(await admit(watch!, { requests_per_minute: 1 }, { hard: false }));
  expect(soft.headers["x-ratelimit-warning"]).toBe("organization; requests_per_minute; 3 of 1");
  expect(admitted(await admit(watch!, { requests_per_minute: 0 }, { subject: "key:other" })).headers).toEqual({});
});

test("a turn whose estimate alone exceeds the limit begins when nothing else is counted", async () => {
  const [watch] = openProcesses(1);
  const limits = { tokens_per_minute: 100 };
  const first = admitted(await admit(watch!, limits, { tokens: 500 }));
  expect(isAdmitted(await admit(watch!, limits))).toBe(false);
  first.end({ tokens: 20 });
  expect(isAdmitted(await admit(watch!, limits))).toBe(true);
});

const spendingOf = (position: number, { spent = "0", at = Date.now() } = {}) => ({
  at,
  position,
  followed_until: at,
  before: new Map(),
  today: new Map([["organization", { ...NO_AMOUNTS, cost: toPicodollars(spent) }]]),
  open: [],
  settled: [],
});

test.each([
  ["requests", { requests_per_minute: 20 }],
  ["money", { cost_per_day: "20" }],
] as const)("two processes whose first turns come together share a limit of %s", async (_, limits) => {
  const processes = openProcesses(2);
  const ask = (n: number) =>
    processes[n % 2]!.admit({ budgets: budget(limits), spending: spendingOf(1) }, spender, {
      turn_id: `first${n}`,
      tokens: 0,
      streamed: false,
      cost: 1_000_000_000_000n,
    });
  const answers = await Promise.all(Array.from({ length: 80 }, (_, n) => ask(n)));
  const passed = answers.filter(isAdmitted).length;
  expect(passed).toBeGreaterThanOrEqual(20);
  expect(passed).toBeLessThanOrEqual(21);
});

test("money that was spent before midnight counts towards no daily budget of the next day, however old the figures are", async () => {
  const [watch] = openProcesses(1);
  const evening = Date.UTC(2026, 10, 25, 23, 59, 59);
  const reading = {
    budgets: budget({ cost_per_day: "3", cost_per_month: "5" }),
    spending: spendingOf(1, { spent: "4", at: evening }),
  };
  const ask = (turn_id: string) => watch!.admit(reading, spender, { turn_id, tokens: 0, streamed: false, cost: 1n });
  vi.useFakeTimers({ now: evening, toFake: ["Date"] });
  try {
    expect(await ask("n1")).toMatchObject({ spent: { name: "cost_per_day", spent: "4" } });
    vi.setSystemTime(evening + 2_000);
    expect(isAdmitted(await ask("n2"))).toBe(true);
    reading.spending = spendingOf(2, { spent: "5", at: evening });
    expect(await ask("n3")).toMatchObject({ spent: { name: "cost_per_month", spent: "5" } });
  } finally {
    vi.useRealTimers();
  }
});

test("a refusal by several used-up budgets names the one that refuses longest", async () => {
  const [watch] = openProcesses(1);
  const now = Date.UTC(2026, 10, 25, 12);
  vi.useFakeTimers({ now, toFake: ["Date"] });
  try {
    const reading = {
      budgets: budget({ cost_per_day: "3", cost_per_month: "5" }),
      spending: spendingOf(1, { spent: "6", at: now }),
    };
    const turn = { turn_id: "longest", tokens: 0, streamed: false, cost: 1n };
    expect(await watch!.admit(reading, spender, turn)).toMatchObject({ spent: { name: "cost_per_month" } });
  } finally {
    vi.useRealTimers();
  }
});

test("a process that starts later knows the reservations of others, and the cost of their turns since", async () => {
  const [early, late] = openProcesses(2);
  const limits = { cost_per_day: "3" };
  const ask = (watch: RateWatch, turn_id: string) =>
    watch.admit({ budgets: budget(limits), spending: spendingOf(1) }, spender, {
      turn_id,
      tokens: 0,
      streamed: false,
      cost: 1_000_000_000_000n,
    });
  const first = admitted(await ask(early!, "e1"));
  await ask(early!, "e2");
  first.end({ tokens: 5, cost: "1.5" });
  const answer = await ask(late!, "l1");
  expect(answer).toMatchObject({ refused: { code: "budget_reserved" } });
  expect(answer).toHaveProperty(
    "refused.message",
    expect.stringContaining("has used 1.5 of 3 US dollars (cost_per_day), and 1 are reserved"),
  );
});

test("what a running turn has reserved is known however long it runs without further turns", async () => {
  vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval", "setTimeout", "clearTimeout"] });
  try {
    const recorded: object[] = [];
    const [watch] = openProcesses(1, { recorded });
    const wanted = { tokens: 0, streamed: false, cost: toPicodollars("1") };
    const limits = budget({ cost_per_day: "3" });
    const first = { budgets: limits, spending: spendingOf(1) };
    admitted(await watch!.admit(first, spender, { ...wanted, turn_id: "long" }));
    const state = { started_at: new Date(), attempt: 1, streamed: false, ended_at: null, parked_at: null, usage: null };
    recorded.push({ ...spender, turn_id: "long", ...state });
    const open = [{ ...spender, turn_id: "long", attempt: 1, reserved: wanted.cost, counted: 0n, counted_today: 0n }];
    const reading = () => ({ budgets: limits, spending: { ...spendingOf(2), open } });
    const needs = { turn_id: "long", attempt: 1, held: wanted.cost, spent: 0n, cost: toPicodollars("2.5") };
    expect(await watch!.growReservation(reading(), spender, needs)).toBe("held");
    await vi.advanceTimersByTimeAsync(180_000);
    expect(await watch!.admit(reading(), spender, { ...wanted, turn_id: "next" })).toMatchObject({
      refused: { code: "budget_reserved", message: expect.stringContaining("2.5 are reserved") },
    });
  } finally {
    vi.useRealTimers();
  }
});

test("a request that fits into its turn's reservation sends no news, and one that needs more a single message", async () => {
  const wire = { isCut: false, sent: [] as TurnNews[] };
  const [here, there] = openProcesses(2, { wire });
  const reading = { budgets: budget({ cost_per_day: "9" }), spending: spendingOf(1) };
  const wanted = { turn_id: "grows", tokens: 0, streamed: false, cost: toPicodollars("1") };
  await Promise.all([
    here!.admit(reading, spender, wanted),
    there!.admit(reading, spender, { ...wanted, turn_id: "other" }),
  ]);
  const sentFor = async (spent: string, cost: string) => {
    wire.sent.length = 0;
    const amounts = { held: wanted.cost, spent: toPicodollars(spent), cost: toPicodollars(cost) };
    expect(await here!.growReservation(reading, spender, { turn_id: "grows", attempt: 1, ...amounts })).toBe("held");
    return wire.sent.flatMap((news) => (news.kind === "grew" ? [[news.spent, news.reserved].map(Number)] : []));
  };
  expect(await sentFor("0", "1")).toEqual([]);
  expect(await sentFor("0", "1.5")).toEqual([[0, 1.5e12]]);
  expect(await sentFor("0.25", "1.5")).toEqual([[0.25e12, 1.5e12]]);
});

test("a limit of streams counts streams, and refuses no other turn", async () => {
  const [watch] = openProcesses(1);
  const limits = { concurrent_streams: 2 };
  const stream = () => admit(watch!, limits, { streamed: true });
  const [first] = [admitted(await stream()), admitted(await stream())];
  expect(await stream()).toMatchObject({
    refused: {
      code: "rate_limited",
      message: expect.stringContaining("concurrent_streams of organization is reached: 2 of 2"),
    },
  });
  expect(isAdmitted(await admit(watch!, limits))).toBe(true);
  first.end({ tokens: 1 });
  expect(isAdmitted(await stream())).toBe(true);
});
