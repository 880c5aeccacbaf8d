import { describe, expect, test } from "vitest";
import { ClaimHeld, ClaimReleased } from "#events/claim.ts";
import type { Decider } from "#events/decider.ts";
import { newCommand, type Command } from "#events/envelope.ts";
import { claimStream } from "#events/ids.ts";
import { Rejection } from "#events/rejection.ts";
import { claimStreams, decide, planAppend, type Plan, type PlanInput } from "./appendPlan.ts";

const NO_WORK = { status: null, due_at: null, worker: null };
const NAME = claimStream("new");
const OLD_NAME = claimStream("old");
const WORK = { status: "running", due_at: null, worker: "w" };

/** Counts its events. The command contains the decision. */
const counter: Decider<number> = {
  version: 7,
  initial: 0,
  decide({ data }) {
    if (data.reject) throw new Rejection("forbidden", "No.", { retryable: data.retryable });
    return data.events;
  },
  evolve: (count) => count + 1,
  claims: (events) => ({
    hold: events.some(({ type }) => type === "Renamed")
      ? [{ name: "new", rejection: { code: "already_exists", message: "" } }]
      : [],
    release: events.some(({ type }) => type === "Renamed") ? ["old"] : [],
  }),
  erases: (events) => (events.some(({ type }) => type === "Ended") ? { things: ["thing-1"] } : {}),
  forgets: (events, count) => (events.some(({ type }) => type === "Ended") ? [`command-${count}`] : []),
  workStatus: (count) => (count < 3 ? WORK : NO_WORK),
};

const command = (data: object): Command =>
  newCommand("Count", { stream: "counter-1", organization_id: "o", request_id: "r", data, timeout_ms: 1_000 });
const event = (type: string) => ({ type, data: {} });

function planFor(data: object, more: Partial<PlanInput> = {}): Plan {
  const before = more.before ?? { version: 1, state: 1 };
  const decision = decide(counter, command(data), before.state);
  return planAppend({ command: command(data), decider: counter, before, decision, claimHeads: new Map(), ...more });
}

describe("the plan for a command", () => {
  const remembered = { version: 1, state: 1, remembered: true };
  const heldName = { claimHeads: new Map([[NAME, { version: 3, state: "counter-2" }]]) };
  test.each<[string, object, Partial<PlanInput>, Plan["kind"]]>([
    ["appends its events", { events: [event("Counted")] }, {}, "append"],
    ["appends its events on a remembered state", { events: [event("Counted")] }, { before: remembered }, "append"],
    ["appends an outcome without events", { events: [] }, {}, "append"],
    ["reads the state again before it appends nothing", { events: [] }, { before: remembered }, "reload"],
    ["records a rejection", { reject: true }, {}, "refuse"],
    ["reads the state again before it rejects", { reject: true }, { before: remembered }, "reload"],
    ["does not record a retryable rejection", { reject: true, retryable: true }, {}, "retryLater"],
    ["appends an event that holds a free name", { events: [event("Renamed")] }, {}, "append"],
    ["records the rejection of a held name", { events: [event("Renamed")] }, heldName, "refuse"],
    [
      "reads the state again for a held name",
      { events: [event("Renamed")] },
      { ...heldName, before: remembered },
      "reload",
    ],
  ])("%s", (_, data, more, kind) => expect(planFor(data, more).kind).toBe(kind));

  test("names the holder in the rejection of a held name", () => {
    const plan = planFor({ events: [event("Renamed")] }, heldName);
    expect(plan).toMatchObject({ append: { events: [], rejection: { code: "already_exists", held_by: "counter-2" } } });
  });
});

describe("an append", () => {
  test("numbers its events after the state and writes the new head with its open work", () => {
    const plan = planFor({ events: [event("Counted"), event("Counted")] }, { before: { version: 4, state: 0 } });
    expect(plan).toMatchObject({ after: { version: 6, state: 2 } });
    expect(plan).toMatchObject({
      append: {
        events: [
          { stream: "counter-1", version: 5, event: { type: "Counted" } },
          { stream: "counter-1", version: 6, event: { type: "Counted" } },
        ],
        heads: [{ stream: "counter-1", state: 2, state_version: 7, ...WORK }],
        erase: { things: [], streams: [] },
        forget: [],
      },
    });
  });

  test("writes no head without events", () => {
    expect(planFor({ events: [] })).toMatchObject({ append: { events: [], heads: [] } });
  });

  test("erases things, and forgets outcomes by the state before its events", () => {
    const plan = planFor({ events: [event("Ended")] }, { before: { version: 9, state: 9 } });
    expect(plan).toMatchObject({ append: { erase: { things: ["thing-1"], streams: [] }, forget: ["command-9"] } });
  });

  test("holds and releases names in the streams of their claims", () => {
    const data = { events: [event("Renamed")] };
    const decision = decide(counter, command(data), 1);
    expect(decision).not.toBeInstanceOf(Rejection);
    expect(claimStreams(decision as Exclude<typeof decision, Rejection>)).toEqual([NAME, OLD_NAME]);
    const claimHeads = new Map([
      [NAME, { version: 2, state: null }],
      [OLD_NAME, { version: 1, state: "counter-1" }],
    ]);
    const plan = planFor(data, { claimHeads });
    expect(plan).toMatchObject({
      append: {
        events: [
          { event: { type: "Renamed" } },
          { stream: NAME, version: 3, event: ClaimHeld.of({ by: "counter-1" }) },
          { stream: OLD_NAME, version: 2, event: ClaimReleased.of({ by: "counter-1" }) },
        ],
        heads: [
          { stream: "counter-1" },
          { stream: NAME, state: "counter-1", state_version: 1, ...NO_WORK },
          { stream: OLD_NAME, state: null, state_version: 1, ...NO_WORK },
        ],
      },
    });
  });
});
