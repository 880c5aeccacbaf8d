import { beforeEach, describe, expect, test } from "vitest";
import { presentEvent } from "#http/audit/eventShape.ts";
import { checkAudit } from "../../dev/crash/check/audit.ts";
import { digestOf } from "../../dev/crash/load/audit.ts";
import { newScenario, turn } from "./scenario.ts";

const usage = { prompt_tokens: 5, completion_tokens: 3, cached_tokens: 2, reasoning_tokens: 1 };
const SUMS = { turns: 1, ...usage, pages: 4, turns_without_cost: 1, cost: null };

let scenario: ReturnType<typeof newScenario>;
beforeEach(() => {
  scenario = newScenario();
  scenario.event("KeyCreated", "key-k", "1", { key_id: "k", key_hash: "hash" }, { name: "n" });
  scenario.event("RoundRequested", "thread-t", "2", { turn_id: "a", usage });
  scenario.event("TurnCompleted", "thread-t", "2", { turn_id: "a", usage });
  scenario.event("DocumentIndexed", "document-d", "3", { units: 4 });
  scenario.event("KeyCreated", "key-other", "4", { key_id: "other" });
  scenario.events.at(-1)!.organization_id = "p";
});

/** An event as its owner is shown it, and the journal keeps it: by the service's own code, so that a new field reaches the checker. */
function shown(position: number, more: object = {}) {
  const event = { ...scenario.events[position - 1]!, sealed_hash: "d2f1" };
  const { personal, ...rest } = presentEvent(event, String);
  return { position, ...rest, personal: personal && digestOf(personal), ...more };
}
const page = (id: string, events: object[], organization_id = "o") =>
  scenario.operation("audit.events", id, { asked: { organization_id, head: 5 }, got: { events, more: false } });
const whole = () =>
  page(
    "whole",
    [1, 2, 3, 4].map((position) => shown(position)),
  );
const others = () => page("others", [shown(5)], "p");
const spent = (more: object = {}, row: object = {}) =>
  scenario.operation("audit.usage", "spent", {
    asked: { organization_id: "o" },
    got: { totals: { ...SUMS, total_tokens: 8, ...more }, rows: [{ ...SUMS, ...row }], total: 1 },
  });
const findings = () => checkAudit(scenario.evidence()).map(({ kind, what }) => `${kind} ${what}`);

test("pages and sums that match the log are no finding", () => {
  page("first", [shown(1), shown(2)]);
  page("second", [shown(3), shown(4)]);
  others();
  spent();
  expect(findings()).toEqual([]);
});

test("the audit counts the usage of a turn that never ended, but not of a document that was never read", () => {
  scenario.event("RoundRequested", "thread-t", "5", { turn_id: "b", usage });
  page(
    "all",
    [1, 2, 3, 4, 6].map((position) => shown(position)),
  );
  others();
  const twice = { prompt_tokens: 10, completion_tokens: 6, cached_tokens: 4, reasoning_tokens: 2 };
  spent({ ...twice, total_tokens: 16 }, twice);
  expect(findings()).toEqual([]);
});

describe("the checker finds", () => {
  beforeEach(others);

  test("an event that the pages omit, repeat or return too early", () => {
    page("1", [shown(1), shown(3), shown(3)]);
    page("2", [shown(2)]);
    expect(findings()).toEqual([
      "doubled tells events twice",
      "different does not tell events in their order",
      "lost leaves out 4 DocumentIndexed",
    ]);
  });

  test("another organization's event", () => {
    page(
      "1",
      [1, 2, 3, 4, 5].map((position) => shown(position)),
    );
    expect(findings()).toEqual(["different tells 5 KeyCreated, which is not the organization's"]);
  });

  test.each([
    ["data", { key_id: "k", key_hash: "hash" }],
    ["data", {}],
    ["personal", null],
    ["principal", "key:k"],
  ])("an event whose %s is shown as %j", (name, value) => {
    page("1", [shown(1, { [name]: value }), shown(2), shown(3), shown(4)]);
    expect(findings()).toEqual(["different is not shown as the log has it"]);
  });

  test("an event with another stream", () => {
    page("1", [shown(1, { stream: "key-l" }), shown(2), shown(3), shown(4)]);
    expect(findings()).toEqual([
      "different does not tell events in their order",
      "different tells undefined KeyCreated, which is not the organization's",
      "lost leaves out 1 KeyCreated",
    ]);
  });

  test("an organization whose events were not read, or could not be", () => {
    expect(findings()).toEqual(["lost was not read"]);
    scenario.operation("audit.events", "1", { asked: { organization_id: "o" }, outcome: "unknown" }, [503]);
    expect(findings()).toEqual(["lost the events of o cannot be read: null"]);
  });

  test("sums that differ from the log, and rows that do not add up", () => {
    whole();
    spent({ pages: 3 });
    spent({}, { turns: 2 });
    scenario.operation("audit.usage", "none", { asked: { organization_id: "o" }, outcome: "unknown" }, [503]);
    expect(findings()).toEqual([
      expect.stringMatching(/^different says /),
      expect.stringMatching(/^different its rows add up to /),
      "lost cannot be read: null",
    ]);
  });
});

describe("of traces the checker finds", () => {
  const trace = (got: object, more: object = {}) =>
    scenario.operation("audit.trace", "t", {
      asked: { turn_id: "a" },
      got: { id: "a", thread_id: "t", status: "completed", text: "said", asked: "<1> word", ...got },
      ...more,
    });
  beforeEach(() => {
    scenario = newScenario();
    turn(scenario, "a", "1", "said");
    page(
      "all",
      [1, 2].map((position) => shown(position)),
    );
  });

  test("nothing if a turn is shown as it was recorded", () => {
    trace({});
    expect(findings()).toEqual([]);
  });

  test.each([{ text: "else" }, { status: "failed" }, { thread_id: "u" }, { asked: "<2> word" }])(
    "a turn that is shown with %o",
    (got) => {
      trace(got);
      expect(findings()).toEqual([expect.stringMatching(/^different shows another turn than the log/)]);
    },
  );

  test("a turn that is not found, and a turn that is found after its deletion", () => {
    trace({}, { outcome: "refused", code: "turn_not_found" });
    expect(findings()).toEqual(["lost turn_not_found for the turn a"]);
    scenario = newScenario();
    scenario.event("TurnStarted", "thread-t", "1", { turn_id: "a" });
    scenario.event("TurnCompleted", "thread-t", "1", { turn_id: "a" });
    page(
      "all",
      [1, 2].map((position) => shown(position)),
    );
    trace({});
    expect(findings()).toEqual(["different shows the turn a, which is deleted"]);
  });
});
