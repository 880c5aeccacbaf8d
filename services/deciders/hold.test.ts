import { expect, test } from "vitest";
import { newCommand } from "#events/envelope.ts";
import { holdStream } from "#events/hold.ts";
import { ORGANIZATION } from "#test/projections/projectEvents.ts";
import { hold, type HoldState } from "./hold.ts";

const id = (n: number) => `0198c0de-0000-7000-8000-${String(n).padStart(12, "0")}`;
const command = (type: string, data: object) =>
  newCommand(type, {
    stream: holdStream(ORGANIZATION),
    organization_id: ORGANIZATION,
    request_id: "r",
    data: data as never,
    timeout_ms: 1_000,
  }) as never;
const place = (state: HoldState, n: number) =>
  hold.decide(command("PlaceHold", { hold_id: id(n), subject: "organization", name: "Case", reason: "Words" }), state);
const release = (state: HoldState, n: number) => hold.decide(command("ReleaseHold", { hold_id: id(n) }), state);
const fold = (state: HoldState, events: ReturnType<typeof place>) => events.reduce(hold.evolve, state);

test("a hold applies until it is released, and its reason is not part of the state", () => {
  const one = fold([], place([], 1));
  expect(one).toEqual([{ id: id(1), subject: "organization", name: "Case" }]);
  expect(() => place(one, 1)).toThrow("already");
  expect(() => release(one, 2)).toThrow("No standing hold");
  const none = fold(one, release(one, 1));
  expect(none).toEqual([]);
  expect(() => release(none, 1)).toThrow("No standing hold");
});

test("an organization has at most 100", () => {
  let state: HoldState = [];
  for (let n = 0; n < 100; n++) state = fold(state, place(state, n));
  expect(() => place(state, 100)).toThrow("at most 100");
});
