import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { ERASED_KINDS } from "#events/erasure.ts";
import { parseCron, timesAfter } from "#events/scheduleTimes.ts";
import { MAX_CSV_ROWS } from "#http/audit/usageCsv.ts";
import { ERASED_KINDS as OFFERED } from "../../console/api/erasedKinds.ts";
import { MAX_CSV_GROUPS } from "../../console/api/usageLimits.ts";
import { nextTimes } from "../../console/format/cron.ts";
import { readMembers } from "../../console/editor/complete.ts";
import { adviceFor, describeDetail } from "../../console/screens/health/describeCheck.ts";

/* The texts of screens for given data, without a browser. */

test("the editor completes the names in the published types", () => {
  const members = readMembers(readFileSync(new URL("../../examples/workflow.d.ts", import.meta.url), "utf8"));
  const labels = (name: string) => members.get(name)?.map(({ label }) => label);
  expect(labels("RunContext")).toEqual(expect.arrayContaining(["runStep", "awaitApproval", "sleep", "complete"]));
  expect(labels("StepContext")).toEqual(expect.arrayContaining(["fetch", "secrets", "attempt"]));
  expect(members.get("RunContext")?.find(({ label }) => label === "sleep")).toEqual({
    label: "sleep",
    detail: "(time: Duration, options?: { key?: string }): Promise<void>",
    type: "method",
  });
});

test("the erasure form offers every kind of data", () => expect(OFFERED).toEqual(ERASED_KINDS));

test("the usage page names as many groups of a CSV as the service writes", () =>
  expect(MAX_CSV_GROUPS).toBe(MAX_CSV_ROWS));

describe("the health of a part", () => {
  test("is described in words", () => {
    expect(describeDetail("postgres", "18.1")).toBe("18.1");
    expect(describeDetail("clock", undefined)).toBe("");
    expect(describeDetail("disk", { free: 0.294 })).toBe("29 % free");
    expect(describeDetail("projection runs", { lag: 1, parked: 0 })).toBe("1 event behind");
    expect(describeDetail("projection runs", { lag: 1_200, parked: 2 })).toBe(
      "1,200 events behind, 2 streams left out",
    );
    const streams = { SVC_DEAD: { messages: 3, bytes: 1_500 }, SVC_EVENTS: null };
    expect(describeDetail("nats", { connected: true, server_version: "2.12.7", streams })).toBe(
      "2.12.7 SVC_DEAD: 3 messages, 1.5 kB; SVC_EVENTS: not readable",
    );
    expect(describeDetail("other", { some: "thing" })).toBe('{"some":"thing"}');
  });

  test("comes with advice", () => {
    expect(adviceFor("meilisearch")).toContain("MEILI_URL");
    expect(adviceFor("projection runs")).toContain("projections");
    expect(adviceFor("index passages")).toContain("the role services");
    const page = readFileSync(new URL("../../docs/alerts.md", import.meta.url), "utf8");
    const checks = [...page.matchAll(/^\| `([a-z]+)` \|/gm)].map(([, name]) => name!);
    expect(checks).toContain("log");
    for (const name of checks) expect(adviceFor(name), name).not.toBe(adviceFor("projection runs"));
  });
});

test("the console computes the next times of a schedule like the service, even across a daylight-saving change", () => {
  const after = new Date("2026-03-27T00:00:00Z");
  for (const cron of ["30 2 * * *", "0 * * * *", "*/20 1-3 * * *", "@weekly", "0 0 31 * *", "15 9 * * 1-5"])
    for (const time_zone of ["UTC", "Europe/Berlin", "America/New_York"])
      expect(nextTimes(cron, time_zone, after, 50), `${cron} ${time_zone}`).toEqual(
        timesAfter({ cron, time_zone }, after, 50),
      );
  for (const cron of ["never", "? * * * *", "0 0 0 * * *"]) {
    expect(() => nextTimes(cron, "UTC", after, 1), cron).toThrow();
    expect(() => parseCron(cron, "UTC"), cron).toThrow();
  }
});
