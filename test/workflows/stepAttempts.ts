import { expect } from "vitest";
import type { CommandResult, Command } from "#events/envelope.ts";
import { idempotencyKey, newId, stepId } from "#events/ids.ts";
import type { Frames } from "#events/ports.ts";
import type { StepEntry } from "#events/runParts.ts";
import type { EnvelopeChange, RunAs } from "#events/workflow.ts";
import { openSearchEngine } from "#infra/meilisearch/searchEngine.ts";
import { openScripts } from "#infra/sandbox/openScripts.ts";
import { createHandler } from "#services/handle.ts";
import { limitDownloadMemory } from "#services/turns/tools/downloadMemory.ts";
import { createTools } from "#services/turns/tools/index.ts";
import { StepFailure } from "#services/workflows/tick.ts";
import { NO_TICK } from "#test/noTick.ts";
import { openKnowledge } from "../../roles/knowledge.ts";
import { openScriptedTools } from "../../roles/scriptedTools.ts";
import { openBudgets } from "../../roles/budgets.ts";
import { openStepHosts } from "../../roles/stepHost.ts";
import { afterFile } from "../cleanUp.ts";
import { countEvents } from "../countEvents.ts";
import { startOpenai } from "../doubles/openai.ts";
import { openReader } from "../knowledge/library.ts";
import { startPlatform, testDeployment } from "../platform.ts";
import { toolSource } from "../tools/desk.ts";
import { commandSender, startRunData } from "./coordinator.ts";
import { openTenant } from "./tenant.ts";

const KEY = "k".repeat(22);
const signal = () => new AbortController().signal;
const refuse = () => Promise.reject(new Error("no web in this test"));

/** The failure that a call of the platform rejects with. */
export async function failureOf(work: Promise<unknown>): Promise<StepFailure> {
  const error = await work.then(
    (value) => new Error(`it succeeded with ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof StepFailure)) throw error;
  return error;
}

/** Refused for good, with a code and a message. */
export async function expectRefused(work: Promise<unknown>, code: string, message: string | RegExp): Promise<void> {
  expect(await failureOf(work)).toMatchObject({ code, final: true, message: expect.stringMatching(message) });
}

/** The whole platform, and a process that holds runs: no coordinator drives them, the test executes their one step itself. */
export async function openStepAttempts(env: Record<string, string> = {}) {
  const deployment = await testDeployment();
  const platform = await startPlatform({ deployment, env });
  const { resources, settings } = await startPlatform({ roles: [], deployment, env });
  const { db, log, bus, vault, keyring, worker } = resources;

  const handle = createHandler({ log, hints: bus.hints, worker: () => worker, afterCommit: () => {} });
  const runner = openScripts({ processes: 1 });
  const engine = openSearchEngine({ url: deployment.addresses.meili_url, key: deployment.addresses.meili_master_key });
  afterFile(() => Promise.all([runner.close(), engine.close()]));
  const tools = createTools({
    knowledge: openKnowledge({ db, engine, vault, base_url: settings.BASE_URL }),
    web: { search: refuse, read: refuse },
    scripts: openScriptedTools({ settings, db, log, vault, keyring, runner, schemas: resources.schemas }),
  });
  const sender = bus.sender(log);
  /** The connection of hosts to the platform: tests replace `handle`; with `deaf` hosts receive no frames of turns. */
  const connection = { handle: (command: Command): Promise<CommandResult> => sender.send(command), deaf: false };
  const frames: Frames = {
    ...bus.frames,
    subscribe: (...listener) => (connection.deaf ? () => {} : bus.frames.subscribe(...listener)),
  };
  const pass = (command: Command) => connection.handle(command);
  const hostFor = openStepHosts(
    { ...resources, bus: { ...bus, frames } },
    { tools, handle: pass, budgets: openBudgets(resources, pass), openDownloadMemory: limitDownloadMemory() },
  );

  /** An organization with workflows of its own, and short ways to what their steps use. */
  async function organization(name = "Home") {
    const tenant = await openTenant(platform.url, await platform.organization(name));
    const { organization_id, credentials, owner, made } = tenant;
    const sendCommand = commandSender(organization_id);
    const send = async (...command: Parameters<typeof sendCommand> extends [unknown, ...infer Rest] ? Rest : never) => {
      const { rejection } = await sendCommand(handle, ...command);
      if (rejection) throw new Error(rejection.message);
    };

    /** A workflow with this envelope, and a run of it whose one step is in its first attempt. */
    async function run(
      envelope: EnvelopeChange = {},
      project_id: string | null = null,
      run_as: RunAs = { type: "service", id: null },
    ) {
      const [workflow_id, run_id] = [newId(), newId()];
      const ids = { workflow_id, definition_id: newId(), definition_version: 1, project_id };
      const workflow = { ...ids, enabled: true, envelope, name: "Workflow", description: "" };
      await send("workflow", workflow_id, "RegisterWorkflow", workflow);
      await send("run", run_id, "StartRun", startRunData(run_id, {}, { ...ids, run_as }));
      const advance = (entries: StepEntry[], tick: object | null = null) => {
        const parts = [{ at: new Date().toISOString(), entries, tick }];
        return send("run", run_id, "AdvanceRun", { run_id, epoch: 1, seen: 1, parts });
      };
      const step = { key: KEY, name: "step", batch: null, index: null, args: { json: "{}" } };
      const schedule = [{ concurrency: null, on_error: "return", steps: [step] }];
      await advance([], { ...NO_TICK, schedule, start: [KEY] });

      /** What an attempt may use of the platform; the epoch may be an older one. */
      const attempt = (n = 1, epoch = 1) => {
        const { host, ...rest } = hostFor({
          organization_id,
          run_id,
          workflow_id,
          project_id,
          asked_by: { type: "system", id: "test" },
          user_mark: null,
          key: KEY,
          step_id: stepId(run_id, KEY),
          attempt: n,
          epoch,
          worker,
          ensureRecorded: async () => {},
          run_as,
          idempotency_key: idempotencyKey(run_id, KEY),
        });
        let nth = 0;
        return {
          ...rest,
          host,
          secret: (name: string) => host.secret(name),
          call: (what: Parameters<typeof host.call>[0], input: unknown, cut = signal()): Promise<any> =>
            host.call(what, input, nth++, cut),
          fetch: (url: string, init: Partial<Parameters<typeof host.fetch>[0]> = {}) =>
            host.fetch({ url, method: "GET", headers: [], body: null, ...init }, signal()),
        };
      };
      return {
        run_id,
        attempt,
        cancel: () => send("run", run_id, "CancelRun", { run_id, by: { type: "system", id: "" }, reason: null }),
        edit: (change: EnvelopeChange) =>
          send("workflow", workflow_id, "ChangeWorkflow", { workflow_id, envelope: change }),
        /** Records that the attempt has failed, and begins the next one. */
        async retry(n: number): Promise<ReturnType<typeof attempt>> {
          const ended = { duration_ms: 0, secrets: [], logs: [], error: { message: "failed", line: null } };
          const at = new Date(Date.now() - 1_000).toISOString();
          await advance([
            { type: "step_attempt_failed", key: KEY, attempt: n, code: "step_error", retry_at: at, ...ended },
            { type: "step_started", key: KEY, attempt: n + 1 },
          ]);
          return attempt(n + 1);
        },
        /** Gives the run to another coordinator, as if this one were gone. */
        lose: () => send("run", run_id, "TakeRun", { run_id, epoch: 1, worker, lost: true }),
      };
    }

    return {
      ...tenant,
      run,
      knowledge: openReader(platform.url, credentials.api_key),
      agent: async (body: object): Promise<string> =>
        (await made(owner("POST", "/agents", { name: "A", model: "offline/echo", ...body }))).id,
      tool: (name: string, source: string): Promise<any> =>
        made(owner("POST", "/definitions", { type: "tool", name, source })),
    };
  }

  /** Events of a type in the log of an organization. */
  const count = (type: string, organization_id: string) => countEvents(db, type, organization_id);
  /** Turns of an organization that start while `work` runs. */
  async function countTurns(organization_id: string, work: () => Promise<unknown>): Promise<number> {
    const before = await count("TurnStarted", organization_id);
    await work();
    return (await count("TurnStarted", organization_id)) - before;
  }
  return { platform, resources, organization, connection, count, countTurns };
}
export type StepAttempts = Awaited<ReturnType<typeof openStepAttempts>>;

/** The same with a double behind the models `openai/…`, and an organization that has a tool `stock`. */
export async function openStepAttemptsWithProvider() {
  const provider = await startOpenai();
  afterFile(() => provider.close());
  const platform = await openStepAttempts({ OPENAI_API_KEY: "sk-x", OPENAI_BASE_URL: provider.url });
  const mine = await platform.organization();
  await mine.tool("stock", toolSource("return { stock: 3, ...meta.vars };"));
  return { provider, platform, mine };
}
