import { expect } from "vitest";
import type { Answer, Command } from "#events/envelope.ts";
import { idempotencyKey, newCommandId, newId, stepId, streamOf } from "#events/ids.ts";
import type { Frames } from "#events/ports.ts";
import type { Entry } from "#events/runParts.ts";
import { Envelope, Limits, type EnvelopeChange, type RunAs } from "#events/workflow.ts";
import { openSearchEngine } from "#infra/meilisearch/searchEngine.ts";
import { openScripts } from "#infra/scripts/openScripts.ts";
import { createHandler } from "#services/handle.ts";
import { createTools } from "#services/turns/tools/index.ts";
import { StepFailure } from "#services/workflows/tick.ts";
import { NO_TICK } from "#test/noTick.ts";
import { openKnowledge } from "../../roles/knowledge.ts";
import { openOwnScripts } from "../../roles/ownScripts.ts";
import { openStepHosts } from "../../roles/stepHost.ts";
import { clientOf } from "../http/service.ts";
import { readerOf } from "../knowledge/library.ts";
import { startPlatform, testDeployment } from "../platform.ts";

const KEY = "k".repeat(22);
const signal = () => new AbortController().signal;

/** Nobody here reads the web. */
const noWeb = {
  search: () => Promise.reject(new Error("no web")),
  read: () => Promise.reject(new Error("no web")),
};

/** What a call was refused with. */
export async function refusalOf(work: Promise<unknown>): Promise<StepFailure> {
  const error = await work.then(
    (value) => new Error(`it came to ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof StepFailure)) throw error;
  return error;
}

/** Refused for good, with a code and words that tell why. */
export async function expectRefused(work: Promise<unknown>, code: string, message: string | RegExp): Promise<void> {
  const error = await refusalOf(work);
  expect(error).toMatchObject({ code, final: true, message: expect.stringMatching(message) });
}

/**
 * The whole platform, and beside it a process in whose name runs are held: their steps run where a test says, and no
 * coordinator takes them up.
 */
export async function openHostDesk(env: Record<string, string> = {}) {
  const deployment = await testDeployment();
  const platform = await startPlatform({ deployment, env });
  const { opened, settings } = await startPlatform({ roles: [], deployment, env });
  const { db, log, bus, blobs, keyring, worker } = opened;

  const handle = createHandler({ log, hints: bus.hints, worker: () => worker, afterCommit: () => {} });
  const runner = openScripts({ processes: 1 });
  const engine = openSearchEngine({ url: deployment.addresses.meili_url, key: deployment.addresses.meili_master_key });
  const tools = createTools({
    knowledge: openKnowledge({ db, engine, blobs, keyring, base_url: settings.BASE_URL }),
    web: noWeb,
    scripts: openOwnScripts({ settings, db, log, blobs, keyring, runner }),
  });
  const sender = bus.sender(log);
  /** What stands between hosts and the platform that handles their commands; deaf ones hear nothing of turns. */
  const way = { handle: (command: Command): Promise<Answer> => sender.send(command), deaf: false };
  const frames: Frames = {
    ...bus.frames,
    subscribe: (...heard) => (way.deaf ? () => {} : bus.frames.subscribe(...heard)),
  };
  const hostFor = openStepHosts(
    { ...opened, bus: { ...bus, frames } },
    { tools, handle: (command) => way.handle(command) },
  );

  /** An organization with its own workflows, and short ways to what they use. */
  async function organization(name = "Desk") {
    const credentials = await platform.organization(name);
    const { organization_id, api_key, admin } = credentials;
    const { body: session } = await clientOf({ chat: platform.url }, "")("POST", "/api/auth/login", admin);
    const person = clientOf({ chat: `${platform.url}/api` }, session.token);
    const made = async (path: string, body: object): Promise<any> => {
      const answer = await person("POST", path, body);
      if (answer.status !== 201) throw new Error(answer.text);
      return answer.body;
    };
    const send = async (aggregate: "workflow" | "run", id: string, type: string, data: object): Promise<void> => {
      const { rejection } = await handle({
        id: newCommandId(),
        type,
        stream: streamOf(aggregate, id),
        organization_id,
        principal: "system",
        at: new Date().toISOString(),
        deadline: new Date(Date.now() + 10_000).toISOString(),
        request_id: "test",
        data,
      });
      if (rejection) throw new Error(rejection.message);
    };

    /** A workflow with these rules, and a run of it whose one step is being tried. */
    async function run(
      rules: EnvelopeChange = {},
      project_id: string | null = null,
      run_as: RunAs = { type: "service", id: null },
    ) {
      const ids = { workflow_id: newId(), definition_id: newId(), definition_version: 1, project_id };
      const { workflow_id } = ids;
      const run_id = newId();
      await send("workflow", workflow_id, "RegisterWorkflow", {
        ...ids,
        enabled: true,
        envelope: rules,
        name: "Workflow",
        description: "",
      });
      await send("run", run_id, "StartRun", {
        ...ids,
        run_id,
        trigger_id: null,
        started_by: { type: "system", id: "" },
        run_as,
        limits: Limits.parse({}),
        expires_at: new Date(Date.now() + 86_400_000).toISOString(),
        retention_days: 90,
        approvals: Envelope.parse({}).approvals,
        slot: null,
        args: { json: "{}" },
        external_user_id: null,
      });
      const advance = (entries: Entry[], tick: object | null = null) => {
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
          key: KEY,
          step_id: stepId(run_id, KEY),
          attempt: n,
          epoch,
          worker,
          recorded: async () => {},
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
        edit: (envelope: EnvelopeChange) => send("workflow", workflow_id, "ChangeWorkflow", { workflow_id, envelope }),
        /** The attempt has failed, and the next one begins. */
        async again(n: number): Promise<ReturnType<typeof attempt>> {
          const ended = { duration_ms: 0, secrets: [], logs: [], error: { message: "failed", line: null } };
          const at = new Date(Date.now() - 1_000).toISOString();
          await advance([
            { type: "step_attempt_failed", key: KEY, attempt: n, code: "step_error", retry_at: at, ...ended },
            { type: "step_started", key: KEY, attempt: n + 1 },
          ]);
          return attempt(n + 1);
        },
        /** Another coordinator has taken the run from one that is gone. */
        lose: () => send("run", run_id, "TakeRun", { run_id, epoch: 1, worker, lost: true }),
      };
    }

    return {
      organization_id,
      credentials,
      person,
      run,
      knowledge: readerOf(platform.url, api_key),
      secret: async (name: string, value: string): Promise<void> => {
        expect((await person("PUT", `/secrets/${name}`, { value })).status).toBe(200);
      },
      agent: async (settings: object): Promise<string> =>
        (await made("/agents", { name: "A", model: "offline/echo", ...settings })).id,
      project: async (): Promise<string> => (await made("/projects", { name: "P" })).id,
      member: (email: string): Promise<{ id: string }> => made("/members", { email, name: "M", role: "builder" }),
      changeMember: async (id: string, change: object): Promise<void> => {
        expect((await person("PATCH", `/members/${id}`, change)).status).toBe(200);
      },
      removeMember: async (id: string): Promise<void> => {
        expect((await person("DELETE", `/members/${id}`)).status).toBeLessThan(300);
      },
      /** A tool of its own. */
      tool: (name: string, source: string): Promise<any> => made("/definitions", { type: "tool", name, source }),
    };
  }

  /** Events of a type that are in the log of an organization. */
  async function count(type: string, organization_id: string): Promise<number> {
    const sql = "select count(*)::integer as n from log.events where type = $1 and organization_id = $2";
    return (await db.query<{ n: number }>(sql, [type, organization_id]))[0]!.n;
  }

  return {
    platform,
    opened,
    organization,
    way,
    count,
    /** How many turns of an organization are begun by some work. */
    async begun(organization_id: string, work: () => Promise<unknown>): Promise<number> {
      const before = await count("TurnStarted", organization_id);
      await work();
      return (await count("TurnStarted", organization_id)) - before;
    },
    async close(): Promise<void> {
      await Promise.all([runner.close(), engine.close()]);
    },
  };
}
export type HostDesk = Awaited<ReturnType<typeof openHostDesk>>;
