import { expect } from "vitest";
import { newCommandId, newId, streamOf } from "#events/ids.ts";
import { StartRun, type RunEvent } from "#events/run.ts";
import { Limits, type Envelope } from "#events/workflow.ts";
import type { Recorded } from "#events/envelope.ts";
import { createHandler, type Handle } from "#services/handle.ts";
import { sendTo } from "#services/send.ts";
import { createSweep } from "#services/sweep.ts";
import { createRuns, type RunsDeps } from "#services/workflows/runs.ts";
import type { StepHost } from "#services/workflows/tick.ts";
import { plainRunner, type PlainWorkflow } from "../doubles/plainRunner.ts";
import { startPlatform, testDeployment, type Deployment } from "../platform.ts";

export const SOON = { timeout: 20_000, interval: 20 };
const DAY_MS = 86_400_000;

/** Before a step of the test's own does something that the test can see, it uses the platform, as a real one would have to. */
export const use = ({ host }: { host: StepHost }): Promise<string> => host.secret("any");

/** What a run's stream holds, leaving out nothing. */
export const typesOf = (events: { type: string }[]): string[] => events.map(({ type }) => type);

interface Starting {
  by?: Handle;
  envelope?: Partial<Envelope>;
  ttl_ms?: number;
}
type Meddle = (deps: RunsDeps) => Partial<RunsDeps>;

/** One process that coordinates runs of the test's own workflows, on the real log. */
async function coordinator(deployment: Deployment, workflows: Record<string, PlainWorkflow>, meddle: Meddle) {
  const { opened, stop } = await startPlatform({ roles: [], deployment });
  const { log, bus, blobs, keyring, worker } = opened;
  const errors: unknown[] = [];
  const lazily: Handle = (command) => handle(command);
  const deps: RunsDeps = {
    blobs,
    keyring,
    dataKeys: log,
    log,
    worker,
    send: sendTo(lazily, worker),
    runner: plainRunner(workflows),
    // the definition of a run is the name of its workflow
    scripts: async ({ definition_version }) => {
      const js = Object.keys(workflows)[definition_version - 1]!;
      return { js, sha256: js, steps: {}, catches: true };
    },
    openHost: ({ recorded }) => ({
      host: {
        fetch: () => Promise.reject(new Error("no")),
        secret: async () => {
          await recorded();
          return "";
        },
        call: () => Promise.reject(new Error("no")),
      },
      redact: (text) => text,
      redactJson: (json) => json,
      resolved: () => [],
    }),
    misfit: () => undefined,
    threadsOf: () => Promise.resolve([]),
    failpoint: () => {},
    onError: (error) => void errors.push(error),
  };
  const runs = createRuns({ ...deps, ...meddle(deps) });
  const handle = createHandler({
    log,
    hints: bus.hints,
    worker: (_, organization) => (runs.room(organization) ? worker : undefined),
    begin: runs.begin,
    afterCommit: runs.afterCommit,
  });
  const sweep = createSweep({
    log,
    worker,
    busy: runs.busy,
    attend: { run: runs.attend },
    onError: (error) => void errors.push(error),
  });
  return { opened, handle, runs, sweep, errors, stop };
}

/** Processes on one deployment; what is sent goes to the one that is named. */
export async function coordinators(
  workflows: Record<string, PlainWorkflow>,
  { count = 1, meddle = () => ({}) }: { count?: number; meddle?: Meddle } = {},
) {
  const deployment = await testDeployment();
  const all: Awaited<ReturnType<typeof coordinator>>[] = [];
  for (let n = 0; n < count; n++) all.push(await coordinator(deployment, workflows, meddle));
  const organization_id = newId();
  const { log } = all[0]!.opened;
  const names = Object.keys(workflows);

  const send = (handle: Handle, run_id: string, type: string, data: object) =>
    handle({
      id: newCommandId(),
      type,
      stream: streamOf("run", run_id),
      organization_id,
      principal: "system",
      at: new Date().toISOString(),
      deadline: new Date(Date.now() + 15_000).toISOString(),
      request_id: "test",
      data: { run_id, ...data },
    });

  /** Starts a run of a workflow at one of the processes, or by a handler of the test's own. */
  async function start(
    name: string,
    args: unknown = {},
    { by = all[0]!.handle, envelope = {}, ttl_ms = DAY_MS }: Starting = {},
  ) {
    const run_id = newId();
    const answer = await send(by, run_id, StartRun.type, {
      workflow_id: newId(),
      definition_id: newId(),
      definition_version: names.indexOf(name) + 1,
      project_id: null,
      trigger_id: null,
      started_by: { type: "system", id: "test" },
      run_as: { type: "service", id: null },
      limits: Limits.parse(envelope.limits ?? {}),
      expires_at: new Date(Date.now() + ttl_ms).toISOString(),
      retention_days: 1,
      approvals: { default_expiry_s: 3_600, allow_api_key: true },
      slot: null,
      args: { json: JSON.stringify(args) },
      external_user_id: null,
    });
    expect(answer.rejection).toBeUndefined();
    return run_id;
  }

  const events = async (run_id: string) => (await log.read(streamOf("run", run_id))) as Recorded<RunEvent>[];
  const last = async (run_id: string) => (await events(run_id)).at(-1)!;
  return {
    deployment,
    all,
    start,
    send,
    events,
    /** Resolves with the events once the last one is of that type. */
    async until(run_id: string, type: RunEvent["type"]): Promise<Recorded<RunEvent>[]> {
      await expect.poll(async () => (await last(run_id)).type, SOON).toBe(type);
      return events(run_id);
    },
    /** The id of the one approval that is pending. */
    async pending(run_id: string): Promise<string> {
      await expect.poll(async () => typesOf(await events(run_id)), SOON).toContain("ApprovalRequested");
      const asked = (await events(run_id)).findLast(({ type }) => type === "ApprovalRequested");
      return (asked!.data as { approval_id: string }).approval_id;
    },
    decide: (handle: Handle, run_id: string, approval_id: string, decision: "approve" | "reject" = "approve") =>
      send(handle, run_id, "DecideApproval", {
        approval_id,
        decision,
        by: { type: "person", id: "u1" },
        data: null,
        comment: null,
      }),
    cancel: (handle: Handle, run_id: string) =>
      send(handle, run_id, "CancelRun", { by: { type: "person", id: "u1" }, reason: null }),
    /** A handler that commits for a process which is dead by now. */
    deadHandler: () =>
      createHandler({
        log,
        hints: all[0]!.opened.bus.hints,
        worker: () => "dead-worker",
        afterCommit: () => {},
      }),
  };
}

export const resultOf = (events: Recorded<RunEvent>[]): unknown => {
  const end = events.find(({ type }) => type === "RunCompleted");
  return JSON.parse((end!.personal as { result: { json: string } }).result.json);
};
