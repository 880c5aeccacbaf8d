import { expect, test } from "vitest";
import type { RecordedEvent } from "#events/envelope.ts";
import type { Follower } from "./advance.ts";
import { createPlanner } from "./planAhead.ts";

const follower = (name: string) => ({ projection: { name } }) as unknown as Follower;
const batch = (position: number) => [{ position }] as unknown as RecordedEvent[];
const [turns, keys] = [follower("turns"), follower("keys")];

const counted = () => {
  let made = 0;
  const planner = createPlanner((followers: Follower[], events) => {
    if (events[0]!.position === 13) throw new Error("cannot be planned");
    made += 1;
    return `${followers.map(({ projection }) => projection.name).join(",")} to ${events.at(-1)!.position}`;
  });
  return { planner, made: () => made };
};

test("a batch that is already planned is not planned again", () => {
  const { planner, made } = counted();
  const events = batch(5);
  planner.planAhead([turns, keys], events);
  expect([planner.plan([turns, keys], events), made()]).toEqual(["turns,keys to 5", 1]);
});

test("a plan is used only once, for the same events and the same followers", () => {
  const { planner, made } = counted();
  const events = batch(5);
  planner.planAhead([turns], events);
  expect(planner.plan([turns], batch(5))).toBe("turns to 5");
  planner.planAhead([turns, keys], events);
  expect(planner.plan([keys], events)).toBe("keys to 5");
  expect(made()).toBe(4);
  expect([planner.plan([turns, keys], events), made()]).toEqual(["turns,keys to 5", 4]);
  expect([planner.plan([turns, keys], events), made()]).toEqual(["turns,keys to 5", 5]);
});

test("a plan is recomputed if a stream was parked after it", () => {
  const { planner, made } = counted();
  const events = batch(5);
  planner.planAhead([turns], events);
  planner.forget();
  expect([planner.plan([turns], events), made()]).toEqual(["turns to 5", 2]);
});

test("an event that cannot be planned fails when its batch is written, not before", () => {
  const { planner } = counted();
  const events = batch(13);
  planner.planAhead([turns], events);
  expect(() => planner.plan([turns], events)).toThrow("cannot be planned");
});
