import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Command } from "#events/envelope.ts";
import { newId, streamName } from "#events/ids.ts";
import { Envelope } from "#events/workflow.ts";
import { run } from "../deciders/run.ts";
import { workflow } from "../deciders/workflow.ts";
import { createChildRuns } from "./childRuns.ts";

const organization_id = "o";
const workflow_id = newId();
const registered = {
  status: "registered",
  project_id: null,
  definition_id: newId(),
  definition_version: 1,
  enabled: true,
  envelope: Envelope.parse({ run_as: { type: "service", id: null } }),
};

beforeEach(() => vi.useFakeTimers({ toFake: ["Date", "performance"] }));
afterEach(() => vi.useRealTimers());

/** Starts a child run for a starter with this status before the start. That look takes `check_ms` more. */
async function startedBy(status: string, check_ms = 0) {
  const began = Date.now();
  const created = { run_id: newId(), workflow_id, project_id: null, started_by: { type: "person", id: "p" } };
  const streams = new Map<string, object>([
    [streamName("workflow", workflow_id), { state_version: workflow.version, state: registered }],
    [streamName("run", created.run_id), { state_version: run.version, state: { status } }],
  ]);
  const sent: Command[] = [];
  const start = createChildRuns({
    log: {
      heads: async (names: string[]) =>
        new Map(
          names.flatMap((stream) =>
            streams.has(stream) ? [[stream, { stream, organization_id, version: 1, ...streams.get(stream) }]] : [],
          ),
        ),
      read: async () => [],
    },
    handle: async (command: Command) => {
      sent.push(command);
      return { position: 1, repeated: false };
    },
    worker: "w",
    scripts: async () => ({ args_schema: {} }),
    schemas: { check: async () => void vi.advanceTimersByTime(check_ms) },
    keyring: { keyedHash: (_: string, text: string) => text },
    admitRun: async () => ({ admitted: { settle: () => {}, withdraw: () => {} } }),
    logLimits: { refusal: () => undefined },
    findWorkflowIds: async () => [],
  } as never);
  const child = { child_run_id: newId(), workflow: workflow_id, args: "{}" };
  const refused = await start({ organization_id, created } as never, child);
  return {
    refused: refused?.code,
    sent: sent.map(({ type, deadline }) => [type, Date.parse(deadline) - began]),
  };
}

test("a run that has ended or was destroyed starts no child run, and a start expires ten seconds after the check", async () => {
  expect(await startedBy("running")).toEqual({ refused: undefined, sent: [["StartRun", 10_000]] });
  expect(await startedBy("running", 4_000)).toEqual({ refused: undefined, sent: [["StartRun", 10_000]] });
  expect(await startedBy("running", 11_000)).toEqual({ refused: undefined, sent: [["StartRun", 10_000]] });
  for (const status of ["cancelled", "completed", "forgotten"])
    expect(await startedBy(status)).toEqual({ refused: "run_ended", sent: [] });
});
