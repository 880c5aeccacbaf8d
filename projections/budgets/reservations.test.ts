import fc from "fast-check";
import { expect, test } from "vitest";
import { NO_AMOUNTS } from "./limits.ts";
import { Reservations, type OpenTurn, type Spending } from "./reservations.ts";

const spender = { principal: "key:k", project_id: null, agent_id: null, user_mark: null };
const subjects = ["organization", "key:k"];

type LogEntry = {
  kind: "began" | "round" | "parked" | "ended" | "deleted";
  turn_id: string;
  amount: bigint;
  at?: number;
};
/** Time between two events; long, so that a read model that lags by some events lags by minutes. */
const STEP_MS = 20_000;

/** How long ended turns are remembered. */
const REMEMBERED_MS = 60_000;

/** The read model after the first events of a log: the sums of the day and the month, and the open turns. */
function snapshot(log: LogEntry[], position: number, asked: string[], { now = 0, midnight = 0 } = {}): Spending {
  const open = new Map<string, OpenTurn>();
  const begun = new Set<string>();
  let rows: { turn_id: string; amount: bigint; isToday: boolean }[] = [];
  for (const { kind, turn_id, amount, at = 0 } of log.slice(0, position)) {
    const isToday = at >= midnight || now < midnight;
    begun.add(turn_id);
    if (kind === "began")
      open.set(turn_id, { ...spender, turn_id, attempt: 1, reserved: amount, counted: 0n, counted_today: 0n });
    else if (kind === "parked") {
      const turn = open.get(turn_id)!;
      Object.assign(turn, { attempt: turn.attempt + 1, reserved: 0n });
    } else if (kind === "round") {
      rows.push({ turn_id, amount, isToday });
      const turn = open.get(turn_id)!;
      turn.counted += amount;
      turn.counted_today += isToday ? amount : 0n;
    } else {
      // the whole turn replaces its rounds; a deleted one keeps them
      if (kind === "ended") rows = [...rows.filter((row) => row.turn_id !== turn_id), { turn_id, amount, isToday }];
      open.delete(turn_id);
    }
  }
  const sumOf = (today: boolean) => {
    const cost = rows.reduce((sum, { amount, isToday }) => sum + (isToday === today ? amount : 0n), 0n);
    return new Map(subjects.map((subject) => [subject, { ...NO_AMOUNTS, cost }]));
  };
  const settled = asked.filter((turn_id) => begun.has(turn_id) && !open.has(turn_id));
  const followed_until = position === log.length ? now : (log[position - 1]?.at ?? 0);
  const sums = { before: sumOf(false), today: sumOf(true) };
  return { at: now, position, followed_until, ...sums, open: [...open.values()], settled };
}

const costOf = (sums: Spending["today"] | undefined): bigint => sums?.get("organization")?.cost ?? 0n;

/** The amounts that a process counts as spent in the month and the day of its snapshot, and as reserved. */
function countedBy(reservations: Reservations) {
  const { ended, reserved } = reservations.of("organization");
  const today = ended + costOf(reservations.spending?.today);
  return { spent: today + costOf(reservations.spending?.before), today, reserved };
}

const arbitraryTurn = fc.record({
  reserved: fc.bigInt(0n, 50n),
  /** The cost of each attempt, and whether the turn waits for a person after it. */
  rounds: fc.array(fc.tuple(fc.bigInt(0n, 20n), fc.boolean()), { maxLength: 3 }),
  more: fc.bigInt(0n, 30n),
  how: fc.constantFrom("ended", "deleted", "open", "never recorded"),
});
const arbitraryRun = fc.record({
  turns: fc.array(arbitraryTurn, { minLength: 1, maxLength: 8 }),
  /** Selects the turn of the next event. */
  order: fc.array(fc.nat(), { minLength: 60, maxLength: 60 }),
  /** How many events the snapshot after each event lags behind. */
  lags: fc.array(fc.option(fc.nat(6), { freq: 2 }), { minLength: 60, maxLength: 60 }),
  /** The minimum of these lags. */
  behind: fc.nat(6),
  /** The number of steps before a day ends. */
  midnight: fc.nat(30),
  news: fc.array(fc.constantFrom("once", "twice", "lost"), { minLength: 8, maxLength: 8 }),
  /** Whether the news of a turn's end names the event. */
  named: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
});
type Run = typeof arbitraryRun extends fc.Arbitrary<infer R> ? R : never;

const scriptOf = ({ turns }: Run): LogEntry[][] =>
  turns.map(({ reserved, rounds, more, how }, n) => {
    const turn_id = `t${n}`;
    const begin: LogEntry = { kind: "began", turn_id, amount: reserved };
    if (how === "never recorded") return [];
    const asked = rounds.flatMap(([amount, isParked]): LogEntry[] => [
      { kind: "round", turn_id, amount },
      ...(isParked ? [{ kind: "parked" as const, turn_id, amount: 0n }] : []),
    ]);
    const total = rounds.reduce((sum, [amount]) => sum + amount, more);
    if (how === "open") return [begin, ...asked];
    return [begin, ...asked, { kind: how, turn_id, amount: total }];
  });

function play(
  run: Run,
  hears: (turn: number, ended: boolean) => number,
  check: (seen: Reservations, log: LogEntry[], now: number) => void,
) {
  const scripts = scriptOf(run);
  const midnight = run.midnight * STEP_MS;
  const log: LogEntry[] = [];
  const seen = new Reservations();
  run.order.forEach((pick, n) => {
    const at = n * STEP_MS;
    const left = scripts.map((script, turn) => ({ script, turn })).filter(({ script }) => script.length > 0);
    if (left.length === 0) return;
    const { script, turn } = left[pick % left.length]!;
    const event = script.shift()!;
    // a turn counts before its command is sent
    for (let times = hears(turn, false); event.kind === "began" && times > 0; times--)
      seen.begin(event.turn_id, { subjects, reserved: event.amount, at });
    log.push({ ...event, at });
    if (event.kind === "round" || event.kind === "parked") {
      const own = log.filter(({ turn_id }) => turn_id === event.turn_id);
      const spent = own.reduce((sum, { kind, amount }) => sum + (kind === "round" ? amount : 0n), 0n);
      const attempt = 1 + own.filter(({ kind }) => kind === "parked").length;
      for (let times = hears(turn, false); times > 0; times--)
        seen.grow(event.turn_id, { attempt, reserved: 0n, spent });
    }
    for (let times = hears(turn, true); event.kind === "ended" && times > 0; times--)
      seen.end(event.turn_id, { cost: event.amount, at, ...(run.named[turn] && { position: log.length }) });
    const lag = run.lags[n];
    const followed = Math.max(0, log.length - run.behind - (lag ?? 0));
    if (lag !== null) seen.apply(snapshot(log, followed, seen.turnsToLookUp(), { now: at, midnight }), at);
    check(seen, log, at);
  });
  return { seen, log };
}

/** The true sums of all turns: what was certainly spent, and what running turns reserve. */
function truth(log: LogEntry[], time?: { now: number; midnight: number }) {
  const { before, today, open } = snapshot(log, log.length, [], time);
  return {
    spent: costOf(before) + costOf(today),
    today: costOf(today),
    reserved: open.reduce((sum, { reserved }) => sum + reserved, 0n),
  };
}

test("a process that gets all news never counts less than the spent and reserved amounts, however old its snapshot is", () => {
  fc.assert(
    fc.property(arbitraryRun, (run) => {
      play(
        run,
        () => 1,
        (seen, log, now) => {
          const midnight = run.midnight * STEP_MS;
          const [counted, real] = [countedBy(seen), truth(log, { now, midnight })];
          expect(counted.reserved).toBeGreaterThanOrEqual(real.reserved);
          expect(counted.spent).toBeGreaterThanOrEqual(real.spent);
          if (now < midnight || (seen.spending?.at ?? 0) >= midnight)
            expect(counted.today).toBeGreaterThanOrEqual(real.today);
        },
      );
    }),
  );
});

test("the figures are exact once the read model has caught up, whatever news came twice or was lost", () => {
  fc.assert(
    fc.property(arbitraryRun, (run) => {
      const times = { once: 1, twice: 2, lost: 0 };
      const { seen, log } = play(
        run,
        (turn) => times[run.news[turn % 8]!],
        () => {},
      );
      const now = (log.at(-1)?.at ?? 0) + STEP_MS;
      const time = { now, midnight: run.midnight * STEP_MS };
      seen.apply(snapshot(log, log.length, seen.turnsToLookUp(), time), now);
      expect(countedBy(seen)).toEqual(truth(log, time));
      // late news does not reopen a turn
      for (const { kind, turn_id, amount, at } of log)
        if (kind === "ended" && now - at! <= REMEMBERED_MS) {
          seen.begin(turn_id, { subjects, reserved: amount, at: now });
          seen.end(turn_id, { cost: amount, at: now });
        }
      const held = log.filter(({ kind }) => kind === "ended").length;
      if (held > 0 && run.news.every((news) => news !== "lost")) expect(countedBy(seen)).toEqual(truth(log, time));
    }),
  );
});

/** The log of a turn with a reservation and then a cost. */
const wholeTurn = (reserved: bigint, cost: bigint): LogEntry[] => [
  { kind: "began", turn_id: "t", amount: reserved },
  { kind: "ended", turn_id: "t", amount: cost },
];

test("a turn that is never recorded keeps its reservation for half a minute", () => {
  const seen = new Reservations();
  seen.begin("t", { subjects, reserved: 5n, at: 0 });
  seen.apply(snapshot([], 0, ["t"], { now: 29_000 }), 29_000);
  expect(seen.of("key:k")).toEqual({ ended: 0n, reserved: 5n });
  seen.apply(snapshot([], 0, ["t"], { now: 31_000 }), 31_000);
  expect(seen.of("key:k")).toEqual({ ended: 0n, reserved: 0n });
});

test("a turn that has ended counts until the read model has its end, however long that lags", () => {
  const seen = new Reservations();
  const log = wholeTurn(5n, 4n);
  seen.begin("t", { subjects, reserved: 5n, at: 0 });
  seen.end("t", { cost: 4n, position: 2, at: 1_000 });
  seen.apply(snapshot(log, 0, ["t"]), 600_000);
  expect(countedBy(seen)).toMatchObject({ spent: 4n, reserved: 0n });
  seen.apply(snapshot(log, 2, ["t"]), 601_000);
  expect(countedBy(seen)).toMatchObject({ spent: 4n, reserved: 0n });
});

test.each([
  ["named", 3],
  ["not named", undefined],
])("a turn counts for as long as the read model does not follow, its end %s", (_, position) => {
  const seen = new Reservations();
  const log: LogEntry[] = [
    { kind: "began", turn_id: "other", amount: 1n, at: 0 },
    { kind: "began", turn_id: "t", amount: 5n, at: 1_000 },
    { kind: "ended", turn_id: "t", amount: 3n, at: 2_000 },
  ];
  seen.begin("t", { subjects, reserved: 5n, at: 1_000 });
  for (const now of [5_000, 40_000, 600_000]) {
    seen.apply(snapshot(log, 1, ["t"], { now }), now);
    expect(countedBy(seen)).toMatchObject({ spent: 0n, reserved: 6n });
  }
  seen.end("t", { cost: 3n, position, at: 600_000 });
  seen.apply(snapshot(log, 1, ["t"], { now: 700_000 }), 700_000);
  expect(countedBy(seen)).toMatchObject({ spent: 3n, reserved: 1n });
  seen.apply(snapshot(log, 3, ["t"], { now: 701_000 }), 701_000);
  expect(countedBy(seen)).toMatchObject({ spent: 3n, reserved: 1n });
});

test("an older snapshot that arrives late changes nothing", () => {
  const seen = new Reservations();
  const log = wholeTurn(5n, 3n);
  seen.begin("t", { subjects, reserved: 5n, at: 0 });
  seen.apply(snapshot(log, 2, ["t"]), 1);
  seen.apply(snapshot(log, 1, ["t"]), 2);
  expect(countedBy(seen)).toMatchObject({ spent: 3n, reserved: 0n });
});

test("a grown reservation stays as large when the read model still has the turn's first one", () => {
  const seen = new Reservations();
  const log: LogEntry[] = [{ kind: "began", turn_id: "t", amount: 5n }];
  seen.begin("t", { subjects, reserved: 5n, at: 0 });
  seen.grow("t", { attempt: 1, reserved: 9n, spent: 2n });
  seen.apply(snapshot(log, 1, ["t"]), 1);
  expect([countedBy(seen), seen.reservationOf("t").reserved]).toMatchObject([{ spent: 2n, reserved: 9n }, 9n]);
  seen.end("t", { cost: 3n, at: 2 });
  seen.grow("t", { attempt: 1, reserved: 20n, spent: 20n });
  expect([countedBy(seen), seen.reservationOf("t").reserved]).toMatchObject([{ spent: 3n, reserved: 0n }, 0n]);
});

test("a turn that waits for a person reserves nothing until its next request", () => {
  const seen = new Reservations();
  const log: LogEntry[] = [
    { kind: "began", turn_id: "t", amount: 5n },
    { kind: "round", turn_id: "t", amount: 2n },
    { kind: "parked", turn_id: "t", amount: 0n },
  ];
  seen.begin("t", { subjects, reserved: 5n, at: 0 });
  seen.grow("t", { attempt: 1, reserved: 9n, spent: 0n });
  seen.grow("t", { attempt: 2, reserved: 0n, spent: 2n });
  // news of the previous attempt, and a lagging read model
  seen.grow("t", { attempt: 1, reserved: 9n, spent: 0n });
  seen.apply(snapshot(log, 1, ["t"]), 1);
  expect(countedBy(seen)).toMatchObject({ spent: 2n, reserved: 0n });
  seen.grow("t", { attempt: 2, reserved: 7n, spent: 2n });
  seen.apply(snapshot(log, 3, ["t"]), 2);
  expect(countedBy(seen)).toMatchObject({ spent: 2n, reserved: 7n });
});

test("a turn whose wait no process has announced is known to wait from the read model", () => {
  const seen = new Reservations();
  const log: LogEntry[] = [
    { kind: "began", turn_id: "t", amount: 5n },
    { kind: "parked", turn_id: "t", amount: 0n },
  ];
  seen.begin("t", { subjects, reserved: 5n, at: 0 });
  seen.apply(snapshot(log, 2, ["t"]), 1);
  expect(countedBy(seen)).toMatchObject({ spent: 0n, reserved: 0n });
});
