import { beforeEach, describe, expect, test } from "vitest";
import type { RecordedEvent } from "#events/envelope.ts";
import { checkFeed } from "../../dev/crash/check/feed.ts";
import { CANARY, PERSONAL } from "../../dev/crash/topology.ts";

const organization_id = "0198c0de-0000-7000-8000-000000000001";
const project_id = "0198c0de-0000-7000-8000-000000000002";
const stream = `project-${project_id}`;

const event = (position: number, type: string, data: object = { project_id }): RecordedEvent<any> => ({
  position,
  stream,
  version: position,
  organization_id,
  type,
  data,
  personal: { name: PERSONAL },
  command_id: String(position),
  recorded_at: new Date(0),
  meta: { principal: "system", request_id: "1.0" },
});
const LOG = [
  event(1, "ProjectCreated"),
  event(2, "ProjectChanged"),
  event(3, "ClaimHeld", { claim: "c" }),
  event(4, "ProjectDeleted"),
];

const message = (position: number, more: object = {}) => {
  const { stream, version, type, recorded_at, data } = LOG[position - 1]!;
  const own = { position, stream, version, organization_id, type, schema_version: 1, recorded_at, data, ...more };
  return {
    kind: "feed" as const,
    subject: `svc.evt.v1.${organization_id}.project.${type}`,
    text: JSON.stringify(own),
  };
};

let messages: ReturnType<typeof message>[];
let until: number;
beforeEach(() => {
  messages = [1, 2, 4].map((position) => message(position));
  until = 4;
});
const findings = () =>
  checkFeed({ feed: messages, feedEnd: { kind: "feed_end", until }, events: LOG }).map(
    ({ kind, what }) => `${kind} ${what}`,
  );

test("a feed that matches the log, even with repetitions, is no finding", () => {
  messages = [1, 2, 1, 2, 2, 4].map((position) => message(position));
  expect(findings()).toEqual([]);
});

test("feed messages after the end are not awaited", () => {
  messages.pop();
  until = 3;
  expect(findings()).toEqual([]);
});

describe("the checker finds", () => {
  test("an event that was not published, and a feed that was not received completely", () => {
    messages.splice(1, 1);
    expect(findings()).toEqual(["lost was not published"]);
    expect(checkFeed({ feed: messages, feedEnd: undefined, events: LOG })).toMatchObject([
      { kind: "lost", rule: "I17" },
    ]);
  });

  test("an event that arrived only after a later one", () => {
    messages = [1, 4, 2].map((position) => message(position));
    expect(findings()).toEqual(["different was published after a later event"]);
  });

  test("an unpublished event, and an event that is missing in the log", () => {
    messages.push(message(3), message(4, { position: 5 }));
    expect(findings()).toEqual(["different must not be published", "different must not be published"]);
  });

  test.each([
    ["stream", "project-0198c0de-0000-7000-8000-000000000003"],
    ["version", 7],
    ["organization_id", project_id],
    ["recorded_at", "2026-01-01T00:00:00.000Z"],
    ["data", { project_id: organization_id }],
  ])("an event whose %s differs from the log", (name, value) => {
    messages[1] = message(2, { [name]: value });
    expect(findings()).toEqual([expect.stringMatching(/^different differs from the log: /)]);
  });

  test.each([
    ["schema_version", 2],
    ["type", "ProjectRenamed"],
    ["data", { project_id: 7 }],
    ["data", {}],
  ])("an event whose %s is not documented: %j", (name, value) => {
    messages[1] = message(2, { [name]: value });
    expect(findings()).toContain("different is not what /asyncapi.json describes");
  });

  test("a wrong subject", () => {
    messages[1] = { ...message(2), subject: message(1).subject };
    expect(findings()).toEqual([expect.stringMatching(/^different was published on /)]);
  });

  test("a stored part of a secret", () => {
    messages[1] = message(2, { data: { project_id, key_hash: "hash" } });
    expect(findings()).toContain("different contains key_hash, which is not published");
  });

  test.each([PERSONAL, CANARY])("personal or secret data (%s)", (word) => {
    messages[1] = message(2, { data: { project_id, name: `the ${word} of somebody` } });
    expect(findings()).toContain(`different contains personal data (${word})`);
  });
});
