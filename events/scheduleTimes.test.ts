import { describe, expect, test } from "vitest";
import { fitsAnyDate, jitter, parseCron, timesAfter, timesUpTo } from "./scheduleTimes.ts";

const iso = (times: Date[]) => times.map((time) => time.toISOString().replace(":00.000Z", "Z"));

describe("the next times of a cron expression", () => {
  test.each<[what: string, cron: string, time_zone: string, after: string, next: string[]]>([
    [
      "spring in Berlin: a time that does not exist is due when the gap ends",
      "30 2 * * *",
      "Europe/Berlin",
      "2026-03-28T00:00Z",
      ["2026-03-28T01:30Z", "2026-03-29T01:00Z", "2026-03-30T00:30Z"],
    ],
    [
      "spring in Berlin: several times in the gap are due once",
      "0,30 2 * * *",
      "Europe/Berlin",
      "2026-03-28T12:00Z",
      ["2026-03-29T01:00Z", "2026-03-30T00:00Z"],
    ],
    [
      "autumn in Berlin: a time that occurs twice is due the first time",
      "30 2 * * *",
      "Europe/Berlin",
      "2026-10-24T12:00Z",
      ["2026-10-25T00:30Z", "2026-10-26T01:30Z"],
    ],
    [
      "autumn in Berlin: every hour means every real hour",
      "0 * * * *",
      "Europe/Berlin",
      "2026-10-24T23:00Z",
      ["2026-10-25T00:00Z", "2026-10-25T01:00Z", "2026-10-25T02:00Z"],
    ],
    [
      "spring in New York: a time that does not exist is due when the gap ends",
      "30 2 * * *",
      "America/New_York",
      "2026-03-07T12:00Z",
      ["2026-03-08T07:00Z", "2026-03-09T06:30Z"],
    ],
    [
      "autumn in New York: a time that occurs twice is due the first time",
      "30 1 * * *",
      "America/New_York",
      "2026-10-31T12:00Z",
      ["2026-11-01T05:30Z", "2026-11-02T06:30Z"],
    ],
    [
      "spring on Lord Howe Island, where the gap is half an hour",
      "15 2 * * *",
      "Australia/Lord_Howe",
      "2026-10-02T16:00Z",
      ["2026-10-03T15:30Z", "2026-10-04T15:15Z"],
    ],
    [
      "autumn on Lord Howe Island, where half an hour occurs twice",
      "45 1 * * *",
      "Australia/Lord_Howe",
      "2026-04-03T15:00Z",
      ["2026-04-04T14:45Z", "2026-04-05T15:15Z"],
    ],
    [
      "a zone three quarters of an hour off",
      "0 9 * * *",
      "Asia/Kathmandu",
      "2026-01-01T00:00Z",
      ["2026-01-01T03:15Z", "2026-01-02T03:15Z"],
    ],
    ["a day that few years have", "0 0 29 2 *", "UTC", "2026-01-01T00:00Z", ["2028-02-29T00:00Z", "2032-02-29T00:00Z"]],
    ["a time itself is not after it", "0 9 * * *", "UTC", "2026-01-01T09:00Z", ["2026-01-02T09:00Z"]],
    ["a date that does not exist", "0 0 31 2 *", "UTC", "2026-01-01T00:00Z", []],
  ])("%s", (_, cron, time_zone, after, next) => {
    const count = Math.max(1, next.length);
    expect(iso(timesAfter({ cron, time_zone }, new Date(after), count))).toEqual(next);
  });

  test.each(["* * * *", "* * * * * *", "60 * * * *", "? * * * *", "H * * * *", "@reboot", "word", ""])(
    "%j is refused",
    (cron) => expect(() => parseCron(cron, "UTC")).toThrow(),
  );
  test("and an unknown time zone is", () => {
    expect(() => timesAfter({ cron: "* * * * *", time_zone: "Mars/Base" }, new Date(), 1)).toThrow();
  });
});

test.each([
  [true, "@daily"],
  [true, "0 9 * * MON#5"],
  [true, "0 0 13 * +FRI"],
  [true, "0 0 29 2 +MON"],
  [true, "0 0 29 2 +2#5"],
  [true, "0 0 L 2 +0"],
  [true, "0 0 22 2 +MONL"],
  [true, "0 0 13 JUL +WED"],
  [true, "0 0 31 4,12 +WED"],
  [false, "0 0 31 2,4,6,9,11 +0-6"],
  [false, "0 0 1-28 * +0-6#5"],
  [false, "0 0 1-21 * +FRIL"],
  [false, "0 0 22 1 +MONL"],
  [false, "0 0 29-31 4 +FRI#4"],
])("it is %s that %s fits any date", (fits, cron) => {
  expect(fitsAnyDate(cron)).toBe(fits);
  expect(timesAfter({ cron, time_zone: "UTC" }, new Date("2026-01-01T00:00Z"), 1).length > 0).toBe(fits);
});

describe("the last times", () => {
  const at = new Date("2026-01-01T09:00Z");
  test("are the newest first, and include the moment itself", () => {
    expect(iso(timesUpTo({ cron: "0 9 * * *", time_zone: "UTC" }, at, 2))).toEqual([
      "2026-01-01T09:00Z",
      "2025-12-31T09:00Z",
    ]);
    const every = { every: 3_600, from: "2026-01-01T06:30:00.000Z" };
    expect(iso(timesUpTo(every, at, 9))).toEqual(["2026-01-01T08:30Z", "2026-01-01T07:30Z"]);
    expect(iso(timesUpTo({ at: at.toISOString() }, at, 9))).toEqual(["2026-01-01T09:00Z"]);
    expect(timesUpTo({ at: at.toISOString() }, new Date(at.getTime() - 1), 9)).toEqual([]);
  });
});

test("an interval counts from its beginning, without drift", () => {
  const rule = { every: 90, from: "2026-01-01T00:00:00.000Z" };
  expect(iso(timesAfter(rule, new Date(rule.from), 2))).toEqual(["2026-01-01T00:01:30.000Z", "2026-01-01T00:03Z"]);
  expect(iso(timesAfter(rule, new Date("2026-01-01T00:03:00Z"), 1))).toEqual(["2026-01-01T00:04:30.000Z"]);
  expect(iso(timesAfter(rule, new Date("2025-06-01T00:00:00Z"), 1))).toEqual(["2026-01-01T00:01:30.000Z"]);
});

test("a single time is due once", () => {
  const rule = { at: "2026-01-01T00:00:00.000Z" };
  expect(iso(timesAfter(rule, new Date("2025-12-31T23:59:59Z"), 5))).toEqual(["2026-01-01T00:00Z"]);
  expect(timesAfter(rule, new Date(rule.at), 5)).toEqual([]);
});

test("jitter is the same for a due time on every process, and spreads trigger by trigger", () => {
  const due = new Date("2026-01-01T00:00Z");
  const all = Array.from({ length: 200 }, (_, n) => jitter(`t${n}`, due, 60));
  expect(all).toEqual(Array.from({ length: 200 }, (_, n) => jitter(`t${n}`, due, 60)));
  expect([Math.min(...all) >= 0, Math.max(...all) < 60_000]).toEqual([true, true]);
  expect(new Set(all.map((ms) => Math.floor(ms / 10_000))).size).toBe(6);
  expect(jitter("t1", due, 0)).toBe(0);
});
