import { beforeEach, describe, expect, test } from "vitest";
import type { Recorded } from "#events/envelope.ts";
import { checkFeed } from "../../crash/check/feed.ts";
import { CANARY, PERSONAL } from "../../crash/topology.ts";

const organization_id = "0198c0de-0000-7000-8000-000000000001";
const project_id = "0198c0de-0000-7000-8000-000000000002";
const stream = `project-${project_id}`;

const event = (position: number, type: string, data: object = { project_id }): Recorded<any> => ({
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
    kind: "told" as const,
    subject: `svc.evt.v1.${organization_id}.project.${type}`,
    text: JSON.stringify(own),
  };
};

let told: ReturnType<typeof message>[];
let until: number;
beforeEach(() => {
  told = [1, 2, 4].map((position) => message(position));
  until = 4;
});
const findings = () =>
  checkFeed({ told, listened: { kind: "listened", until }, events: LOG }).map(({ kind, what }) => `${kind} ${what}`);

test("a feed that tells the log, some of it twice, is no finding", () => {
  told = [1, 2, 1, 2, 2, 4].map((position) => message(position));
  expect(findings()).toEqual([]);
});

test("what comes after the end is not waited for", () => {
  told.pop();
  until = 3;
  expect(findings()).toEqual([]);
});

describe("the checker finds", () => {
  test("an event that was not told, and a feed that nobody heard to its end", () => {
    told.splice(1, 1);
    expect(findings()).toEqual(["lost was not told"]);
    expect(checkFeed({ told, listened: undefined, events: LOG })).toMatchObject([{ kind: "lost", rule: "I17" }]);
  });

  test("an event that was told after a later one only", () => {
    told = [1, 4, 2].map((position) => message(position));
    expect(findings()).toEqual(["different was told after what came later"]);
  });

  test("an event that is nothing to be told, and one that is not in the log", () => {
    told.push(message(3), message(4, { position: 5 }));
    expect(findings()).toEqual(["different is nothing to be told", "different is nothing to be told"]);
  });

  test.each([
    ["stream", "project-0198c0de-0000-7000-8000-000000000003"],
    ["version", 7],
    ["organization_id", project_id],
    ["recorded_at", "2026-01-01T00:00:00.000Z"],
    ["data", { project_id: organization_id }],
  ])("another %s than the log has", (name, value) => {
    told[1] = message(2, { [name]: value });
    expect(findings()).toEqual([expect.stringMatching(/^different says .* the log something else$/)]);
  });

  test.each([
    ["schema_version", 2],
    ["type", "ProjectRenamed"],
    ["data", { project_id: 7 }],
    ["data", {}],
  ])("a %s that is not described", (name, value) => {
    told[1] = message(2, { [name]: value });
    expect(findings()).toContain("different is not what /asyncapi.json describes");
  });

  test("a subject that is another's", () => {
    told[1] = { ...message(2), subject: message(1).subject };
    expect(findings()).toEqual([expect.stringMatching(/^different was told on /)]);
  });

  test("what is kept of a secret", () => {
    told[1] = message(2, { data: { project_id, key_hash: "hash" } });
    expect(findings()).toContain("different tells key_hash, which stays in the house");
  });

  test.each([PERSONAL, CANARY])("what is personal or secret (%s)", (word) => {
    told[1] = message(2, { data: { project_id, name: `the ${word} of somebody` } });
    expect(findings()).toContain(`different tells what is personal (${word})`);
  });
});
