import { expect, test } from "vitest";
import { computingTime } from "#test/computingTime.ts";
import { checkSchedule } from "./scheduleRule.ts";

const reasonOf = (cron: string): string => {
  try {
    checkSchedule({ cron }, { min_seconds: 60, jitter_seconds: 0 });
    return "taken";
  } catch (error) {
    return (error as Error).message.replace("schedule.cron: ", "");
  }
};

test.each([
  ["60 * * * *", "minutes are 0 to 59."],
  ["0 24 * * *", "hours are 0 to 23."],
  ["0 0 0 * *", "days are 1 to 31."],
  ["0 0 32 * *", "days are 1 to 31."],
  ["0 0 * 13 *", "months are 1 to 12, or names such as JAN."],
  ["0 0 * 0 *", "months are 1 to 12, or names such as JAN."],
  ["0 0 * * 8", "weekdays are 0 (Sunday) to 7 (Sunday), or names such as MON."],
])("the cron expression %s is refused with the range of the invalid field", (cron, reason) =>
  expect(reasonOf(cron)).toBe(reason),
);

test.each(["-1 * * * *", "* * * * * *", "* * *", "", "5- * * * *"])("%j is refused with the correct form", (cron) =>
  expect(reasonOf(cron)).toContain("must be five fields such as 0 9 * * 1-5"),
);

test.each([
  ["0 0 1-28 * +0-6#5", "no date fits it, so it never fires."],
  ["0 0 31 2,4,6,9,11 +0-6", "no date fits it, so it never fires."],
  ["0 0 1W,2W,3W,4W,5W,6W,7W * +0", "no date fits it, so it never fires."],
  ["0 0 1-20 * +0L,1L,2L", "no date fits it, so it never fires."],
  ["0 0 29 2 +0", "taken"],
])("%s is checked without holding up the process", (cron, reason) => {
  let found = "";
  expect(computingTime(() => (found = reasonOf(cron)))).toBeLessThan(50);
  expect(found).toBe(reason);
});

test.each([
  "0 0 31 12 *",
  "59 23 1 1 7",
  "@daily",
  "0 9 * JAN MON-FRI",
  "0 9 13 JUL +WED",
  "0 9 1W,L * *",
  "0 0 L * +mon",
])("%s is accepted", (cron) => expect(reasonOf(cron)).toBe("taken"));
