import { setTimeout as sleep } from "node:timers/promises";
import type { OwnContender } from "./own.ts";
import { progress } from "../tools/progress.ts";

export const SCHEDULES = 1_000;
/** Time to create them before they are due. */
const LEAD_MS = 8_000;

/** Milliseconds from the second in which all schedules are due to the records of the runs that they start. */
export const measureSchedules = async (own: OwnContender): Promise<number[]> => {
  progress(`${SCHEDULES} schedules that are due in one second`);
  const due = new Date(Math.ceil((Date.now() + LEAD_MS) / 1_000) * 1_000);
  await own.schedule(SCHEDULES, due);
  if (Date.now() > due.getTime() - 1_000) throw new Error("the schedules were not created before they were due");
  for (;;) {
    const delays = await own.startDelays(due);
    if (delays.length >= SCHEDULES) return delays;
    progress(`${SCHEDULES} schedules that are due in one second: ${delays.length} runs`);
    await sleep(500);
  }
};
