import { newCommand } from "#events/envelope.ts";
import { newId, streamName } from "#events/ids.ts";
import { Envelope } from "#events/workflow.ts";
import { createHandler, type Handle } from "#services/handle.ts";
import { sendTo } from "#services/send.ts";
import { createSweep } from "#services/sweep.ts";
import { createRunMemory } from "#services/workflows/runMemory.ts";
import { createRuns, type RunsDeps } from "#services/workflows/runs.ts";
import { plainRunner, type PlainWorkflow } from "../doubles/plainRunner.ts";
import type { Resources } from "../../roles/resources.ts";

/** Workflows that are functions of the test, by name; `definitions` has the name for the id of a definition. */
export interface Functions {
  functions: Record<string, PlainWorkflow>;
  definitions: Map<string, string>;
}

const refuse = () => Promise.reject(new Error("not in this test"));

/** What one process needs to handle commands and to coordinate runs of the test's functions. `change` replaces dependencies. */
export function openCoordinator(
  { log, bus, vault, keyring, worker }: Resources,
  { functions, definitions }: Functions,
  change: (deps: RunsDeps) => Partial<RunsDeps> = () => ({}),
) {
  const errors: unknown[] = [];
  const lazily: Handle = (command) => handle(command);
  const deps: RunsDeps = {
    vault,
    keyring,
    log,
    worker,
    send: sendTo(lazily, worker),
    runner: plainRunner(functions),
    scripts: async ({ definition_id }) => {
      const js = definitions.get(definition_id)!;
      return { js, sha256: js, steps: {}, catches: true, ordered: false, args_schema: {} };
    },
    openHost: ({ ensureRecorded }) => ({
      // steps here can use only secrets, whose attempt is recorded first
      host: { fetch: refuse, call: refuse, secret: () => ensureRecorded().then(() => "") },
      redact: async (text) => text,
      redactJson: async (json) => json,
      secretNames: () => [],
      wasUnavailable: () => false,
    }),
    schemas: { check: async () => undefined },
    logLimits: { refusal: () => undefined },
    runMemory: createRunMemory(512),
    startChildRun: refuse,
    startAgentTurn: refuse,
    stopTurn: refuse,
    belongingsOf: () => Promise.resolve({ threads: [], files: [] }),
    failpoint: () => {},
    onError: (error) => void errors.push(error),
  };
  const runs = createRuns({ ...deps, ...change(deps) });
  const handle = createHandler({
    log,
    hints: bus.hints,
    worker: (aggregate, organization) => (aggregate === "run" && runs.hasRoom(organization) ? worker : undefined),
    begin: runs.begin,
    afterCommit: runs.afterCommit,
  });
  const { busy, resumeWork } = runs;
  const sweep = createSweep({ log, worker, busy, resumeWork: { run: resumeWork }, onError: deps.onError });
  return { handle, runs, sweep, errors };
}

/** Data of a StartRun as http sends it. */
export const startRunData = (run_id: string, envelope: Partial<Envelope> = {}, more: object = {}) => {
  const { limits, retention_days, approvals, run_as } = Envelope.parse(envelope);
  return {
    run_id,
    workflow_id: newId(),
    definition_id: newId(),
    definition_version: 1,
    project_id: null,
    trigger_id: null,
    started_by: { type: "system", id: "test" },
    run_as,
    limits,
    expires_at: new Date(Date.now() + 86_400_000).toISOString(),
    retention_days,
    approvals,
    slot: null,
    args: { json: "{}" },
    external_user_id: null,
    ...more,
  };
};

/** Sends commands of an organization to a handler. */
export const commandSender =
  (organization_id: string) =>
  (handle: Handle, aggregate: "workflow" | "run", id: string, type: string, data: object) =>
    handle(
      newCommand(type, {
        stream: streamName(aggregate, id),
        organization_id,
        request_id: "test",
        timeout_ms: 15_000,
        data,
      }),
    );
