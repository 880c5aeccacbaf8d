import { beforeEach, describe, expect, test } from "vitest";
import { checkAudit } from "../../crash/check/audit.ts";
import { digestOf } from "../../crash/load/audit.ts";
import { story, turn } from "./story.ts";

const usage = { prompt_tokens: 5, completion_tokens: 3, cached_tokens: 2, reasoning_tokens: 1 };
const SUMS = { turns: 1, ...usage, pages: 4 };

let told: ReturnType<typeof story>;
beforeEach(() => {
  told = story();
  told.event("KeyCreated", "key-k", "1", { key_id: "k", key_hash: "hash" }, { name: "n" });
  told.event("RoundRequested", "thread-t", "2", { turn_id: "a", usage });
  told.event("TurnCompleted", "thread-t", "2", { turn_id: "a", usage });
  told.event("DocumentIndexed", "document-d", "3", { units: 4 });
  told.event("KeyCreated", "key-other", "4", { key_id: "other" });
  told.events.at(-1)!.organization_id = "p";
});

/** An event as its owner is shown it. */
function shown(position: number, more: object = {}) {
  const { stream, version, type, command_id, recorded_at, data, personal, meta } = told.events[position - 1]!;
  const { key_hash: _, ...rest } = data;
  const fields = { data: rest, personal: personal ? digestOf(personal) : null, erased: false, trace_id: null };
  return {
    position,
    stream,
    version,
    type,
    command_id,
    recorded_at: recorded_at.toISOString(),
    ...meta,
    ...fields,
    ...more,
  };
}
const page = (id: string, events: object[], organization_id = "o") =>
  told.operation("audit.events", id, { asked: { organization_id, head: 5 }, got: { events, more: false } });
const whole = () =>
  page(
    "whole",
    [1, 2, 3, 4].map((position) => shown(position)),
  );
const others = () => page("others", [shown(5)], "p");
const spent = (more: object = {}, row: object = {}) =>
  told.operation("audit.usage", "spent", {
    asked: { organization_id: "o" },
    got: { totals: { ...SUMS, total_tokens: 8, ...more }, rows: [{ ...SUMS, ...row }], total: 1 },
  });
const findings = () => checkAudit(told.evidence()).map(({ kind, what }) => `${kind} ${what}`);

test("pages and sums that are the log's are no finding", () => {
  page("first", [shown(1), shown(2)]);
  page("second", [shown(3), shown(4)]);
  others();
  spent();
  expect(findings()).toEqual([]);
});

test("what a turn that never ended took counts, and what was never read does not", () => {
  told.event("RoundRequested", "thread-t", "5", { turn_id: "b", usage });
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

  test("an event that the pages leave out, one twice, and one too early", () => {
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
    ["stream", "key-l"],
  ])("an event with another %s", (name, value) => {
    page("1", [shown(1, { [name]: value }), shown(2), shown(3), shown(4)]);
    expect(findings()).toEqual(["different is not shown as the log has it"]);
  });

  test("an organization whose events were not or could not be read", () => {
    expect(findings()).toEqual(["lost was not read"]);
    told.operation("audit.events", "1", { asked: { organization_id: "o" }, outcome: "unknown" }, [503]);
    expect(findings()).toEqual(["lost the events of o cannot be read: null"]);
  });

  test("sums that are not the log's, and rows that do not add up", () => {
    whole();
    spent({ pages: 3 });
    spent({}, { turns: 2 });
    told.operation("audit.usage", "none", { asked: { organization_id: "o" }, outcome: "unknown" }, [503]);
    expect(findings()).toEqual([
      expect.stringMatching(/^different says /),
      expect.stringMatching(/^different its rows add up to /),
      "lost cannot be read: null",
    ]);
  });
});

describe("of traces the checker finds", () => {
  const trace = (got: object, more: object = {}) =>
    told.operation("audit.trace", "t", {
      asked: { turn_id: "a" },
      got: { id: "a", thread_id: "t", status: "completed", text: "said", asked: "<1> word", ...got },
      ...more,
    });
  beforeEach(() => {
    told = story();
    turn(told, "a", "1", "said");
    page(
      "all",
      [1, 2].map((position) => shown(position)),
    );
  });

  test("nothing where a turn is shown as it was", () => {
    trace({});
    expect(findings()).toEqual([]);
  });

  test.each([{ text: "else" }, { status: "failed" }, { thread_id: "u" }, { asked: "<2> word" }])(
    "another %o",
    (got) => {
      trace(got);
      expect(findings()).toEqual([expect.stringMatching(/^different shows another turn than the log/)]);
    },
  );

  test("a turn that is not found, and one that is though it was deleted", () => {
    trace({}, { outcome: "refused", code: "turn_not_found" });
    expect(findings()).toEqual(["lost turn_not_found for the turn a"]);
    told = story();
    told.event("TurnStarted", "thread-t", "1", { turn_id: "a" });
    told.event("TurnCompleted", "thread-t", "1", { turn_id: "a" });
    page(
      "all",
      [1, 2].map((position) => shown(position)),
    );
    trace({});
    expect(findings()).toEqual(["different shows the turn a, which is deleted"]);
  });
});
