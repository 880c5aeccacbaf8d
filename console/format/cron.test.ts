import { expect, test } from "vitest";
import { describeCron, toCron } from "./cron.ts";

test.each([
  ["30 8 * * 1-5", "on weekdays at 08:30"],
  ["0 6 * * *", "every day at 06:00"],
  ["@daily", "every day at 00:00"],
  ["5 * * * *", "every hour at minute 5"],
  ["15 9 * * 1", "every Monday at 09:15"],
  ["15 9 * * 1,3,7", "every Monday, Wednesday and Sunday at 09:15"],
  ["0 0 31 * *", "on day 31 of every month at 00:00"],
  ["*/10 * * * *", "every 10 minutes"],
  ["*/1 * * * *", "every minute"],
  ["* * * * 1-5", "every minute on weekdays"],
  ["0 */6 * * *", "every 6 hours at minute 0"],
])("%s is read as %s", (cron, words) => expect(describeCron(cron)).toBe(words));

test.each(["0 0 1 1 *", "0 8-17 * * *", "1,2 * * * *", "0 0 * * 5#2", "0 0 13 * 5", "nonsense", ""])(
  "%j has no short sentence and is shown as it is",
  (cron) => expect(describeCron(cron)).toBe(cron),
);

test("the form's choices become a cron expression that reads back as the same choices", () => {
  const clock = { time: "08:05", weekday: 2, day: 15 };
  const words = (["weekdays", "day", "week", "month", "hour"] as const).map((frequency) =>
    describeCron(toCron({ ...clock, frequency })),
  );
  expect(words).toEqual([
    "on weekdays at 08:05",
    "every day at 08:05",
    "every Tuesday at 08:05",
    "on day 15 of every month at 08:05",
    "every hour at minute 5",
  ]);
});
