import fc from "fast-check";
import { expect, test } from "vitest";
import { TurnCounts } from "./turnCounts.ts";

const AT = 1_800_000_000_000;
const SUBJECT = "organization";
const begun = (turn_id: string, at = AT, tokens = 10, streamed = false) => ({
  turn_id,
  subjects: [SUBJECT, "key:k"],
  tokens,
  streamed,
  at,
  attempt: 1,
});
const used = (counts: TurnCounts, now = AT, subject = SUBJECT) =>
  (["requests_per_minute", "tokens_per_minute", "concurrent_turns"] as const).map((name) =>
    counts.used(subject, name, now),
  );

test("a turn counts with an estimate until it ends, then with its tokens, for a minute each", () => {
  const counts = new TurnCounts();
  counts.begin(begun("a"));
  expect(used(counts)).toEqual([1, 10, 1]);
  counts.end("a", 25, AT + 20_000);
  expect(used(counts, AT + 20_000)).toEqual([1, 25, 0]);
  expect(used(counts, AT + 59_999)).toEqual([1, 25, 0]);
  expect(used(counts, AT + 60_000)).toEqual([0, 25, 0]);
  expect(used(counts, AT + 80_000)).toEqual([0, 0, 0]);
  expect(used(counts, AT, "key:other")).toEqual([0, 0, 0]);
});

test("a turn without subjects is open and counts for nothing, until it is read for a limit that was set since", () => {
  const counts = new TurnCounts();
  const unrated = { ...begun("a"), subjects: [] };
  counts.begin(unrated);
  expect([used(counts), counts.hasOpen()]).toEqual([[0, 0, 0], true]);
  counts.begin(begun("a"));
  counts.begin(begun("a"));
  expect(used(counts)).toEqual([1, 10, 1]);
  counts.end("a", 25, AT);
  expect([used(counts), counts.hasOpen()]).toEqual([[1, 25, 0], false]);
});

test("nothing is remembered of a turn without subjects after it has ended or was withdrawn", () => {
  const counts = new TurnCounts();
  counts.begin({ ...begun("a"), subjects: [] });
  counts.end("a", 25, AT);
  counts.begin({ ...begun("b"), subjects: [] });
  counts.withdraw("b", AT);
  expect([counts.hasOpen(), counts.endedSince(AT - 1)]).toEqual([false, []]);
  // a limit was set meanwhile, and the read models have the turn
  counts.begin(begun("a"));
  counts.end("a", 25, AT);
  expect(used(counts)).toEqual([1, 25, 0]);
});

test("a turn that never began counts for nothing", () => {
  const counts = new TurnCounts();
  counts.begin(begun("a"));
  counts.withdraw("a", AT);
  counts.end("a", 5, AT);
  expect(used(counts)).toEqual([0, 0, 0]);
});

test("a turn that waits for a person does not count as running until it continues, and counts as one request", () => {
  const counts = new TurnCounts();
  const resumed = (attempt: number, at: number) => ({ ...begun("a", at, 0, true), attempt });
  counts.begin(begun("a", AT, 10, true));
  counts.park("a", 1, AT + 1_000);
  expect([used(counts), counts.used(SUBJECT, "concurrent_streams", AT)]).toEqual([[1, 0, 0], 0]);
  counts.resume(resumed(2, AT + 20_000));
  // late reports of earlier changes
  counts.begin(begun("a"));
  counts.park("a", 1, AT + 20_000);
  counts.resume(resumed(2, AT + 20_000));
  expect([used(counts), counts.used(SUBJECT, "concurrent_streams", AT)]).toEqual([[1, 0, 1], 1]);
  counts.park("a", 3, AT + 30_000);
  // it was cancelled while it waited
  counts.end("a", 25, AT + 40_000);
  counts.resume(resumed(4, AT + 40_000));
  expect(used(counts, AT + 40_000)).toEqual([1, 25, 0]);
});

test("a forgotten turn that is resumed counts as running, and not as a request of this minute", () => {
  const counts = new TurnCounts();
  counts.resume({ ...begun("a", AT, 0), attempt: 2 });
  expect(used(counts)).toEqual([0, 0, 1]);
  counts.end("a", 25, AT + 20_000);
  expect(used(counts, AT + 20_000)).toEqual([0, 25, 0]);
});

test("room comes when enough has left the window", () => {
  const counts = new TurnCounts();
  for (const n of [0, 10, 20]) counts.begin(begun(`t${n}`, AT + n * 1000));
  const now = AT + 30_000;
  const freeIn = (amount: number) => counts.freeIn(SUBJECT, "requests_per_minute", amount, now);
  expect([1, 2, 3, 9].map(freeIn)).toEqual([30_000, 40_000, 50_000, 50_000]);
  expect(counts.freeIn(SUBJECT, "concurrent_turns", 1, now)).toBe(0);
});

test("beyond the maximum, the turns that ended first are forgotten, and never a running one", () => {
  const counts = new TurnCounts();
  counts.begin(begun("under way"));
  const ids = Array.from({ length: 50_001 }, (_, n) => `t${n}`);
  for (const id of ids) {
    counts.begin(begun(id));
    counts.end(id, 1, AT);
  }
  counts.prune(AT);
  const [before] = used(counts);
  for (const id of ["under way", ids[0]!, ids[1]!, ids[2]!, ids.at(-1)!]) counts.begin(begun(id));
  // the first two were forgotten, so they count again
  expect(used(counts)[0]! - before!).toBe(2);
  expect(counts.openBefore(AT + 1)).toEqual(["under way", ids[0], ids[1]]);
});

test("each turn begins and ends once, however often and in whatever order news of it arrives", () => {
  const news = fc.record({ turn: fc.nat(5), kind: fc.constantFrom("begin", "end", "withdraw"), at: fc.nat(59_000) });
  fc.assert(
    fc.property(fc.array(news, { maxLength: 60 }), (told) => {
      const counts = new TurnCounts();
      const state = new Map<number, string>();
      for (const { turn, kind, at } of told) {
        const before = state.get(turn);
        if (kind === "begin") {
          counts.begin(begun(String(turn), AT + at));
          state.set(turn, before ?? "begin");
        } else {
          if (kind === "end") counts.end(String(turn), 7, AT + at);
          else counts.withdraw(String(turn), AT + at);
          if (before === "begin") state.set(turn, kind);
        }
      }
      const count = (kind: string) => [...state.values()].filter((one) => one === kind).length;
      const [open, ended] = [count("begin"), count("end")];
      expect(used(counts, AT + 59_000)).toEqual([open + ended, open * 10 + ended * 7, open]);
      // what no longer counts is forgotten
      counts.prune(AT + 200_000);
      expect([...counts.subjects()].length).toBe(open > 0 ? 2 : 0);
    }),
  );
});
