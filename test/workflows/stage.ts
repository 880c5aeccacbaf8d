import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect } from "vitest";
import type { CommandDefinition, NewEvent } from "#events/define.ts";
import { newCommandId, newId, streamOf } from "#events/ids.ts";
import type { Recorded } from "#events/envelope.ts";
import { ForgetRun, type RunEvent } from "#events/run.ts";
import { createHandler, type Handle } from "#services/handle.ts";
import { sendTo } from "#services/send.ts";
import { createSweep } from "#services/sweep.ts";
import { createRuns } from "#services/workflows/runs.ts";
import { signIn } from "../agents/agents.ts";
import { plainRunner, type PlainWorkflow } from "../doubles/plainRunner.ts";
import { clientOf } from "../http/service.ts";
import { startPlatform, testDeployment } from "../platform.ts";

export const UNKNOWN = "01900000-0000-7000-8000-000000000000";
export const code = ({ status, body }: { status: number; body: any }) => [status, body?.error?.code];
export const SOON = { timeout: 20_000, interval: 20 };

const YEARS_MS = 10 * 365 * 86_400_000;
/** Events of one append. */
const CHUNK = 1_000;

type Opened = Awaited<ReturnType<typeof startPlatform>>["opened"];

const stops: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
});

const refuse = () => Promise.reject(new Error("not in this test"));

/** Handles every command, and coordinates runs of workflows that are functions of the test. */
async function serve({ log, bus, blobs, keyring, worker }: Opened, workflows: Record<string, PlainWorkflow>) {
  const names = new Map<string, string>();
  const lazily: Handle = (command) => handle(command);
  const runs = createRuns({
    blobs,
    keyring,
    dataKeys: log,
    log,
    worker,
    send: sendTo(lazily, worker),
    runner: plainRunner(workflows),
    scripts: async ({ definition_id }) => {
      const js = names.get(definition_id)!;
      return { js, sha256: js, steps: {}, catches: true };
    },
    openHost: () => ({
      host: { fetch: refuse, secret: refuse, call: refuse },
      redact: (text) => text,
      redactJson: (json) => json,
      resolved: () => [],
    }),
    misfit: () => undefined,
    threadsOf: () => Promise.resolve([]),
    failpoint: () => {},
    onError: () => {},
  });
  const handle = createHandler({
    log,
    hints: bus.hints,
    worker: (aggregate, organization) => (aggregate === "run" && runs.room(organization) ? worker : undefined),
    begin: runs.begin,
    afterCommit: runs.afterCommit,
  });
  const sweep = createSweep({ log, worker, busy: runs.busy, attend: { run: runs.attend }, onError: () => {} });
  const commands = await bus.source().consume(handle);
  sweep.start();
  stops.push(async () => {
    await Promise.all([commands.stop(), sweep.stop()]);
    await runs.stop();
  });
  return names;
}

interface Registered {
  id: string;
  definition: { id: string; version: number };
}
export interface Hook {
  id: string;
  hook_token: string;
  secret: string;
}

const WAITING = "export async function run() {}";
const sourceOf = (args: object | undefined) =>
  args ? `export const meta = ${JSON.stringify({ args })};\n${WAITING}` : WAITING;

/** One organization's people and key, and short ways to its workflows. */
async function member(url: string, credentials: { api_key: string; admin: any; organization_id: string }) {
  const { call: api, token: session } = await signIn(url, credentials.admin);
  return {
    ...credentials,
    session,
    api,
    /** Below /api/workflows, signed in as the owner. */
    person: clientOf({ chat: `${url}/api/workflows` }, session),
    key: clientOf({ chat: `${url}/api/workflows` }, credentials.api_key),
  };
}

/** The service over HTTP, with runs of workflows that are functions of the test. */
export async function openStage(workflows: Record<string, PlainWorkflow>) {
  const deployment = await testDeployment();
  const platform = await startPlatform({ roles: ["http", "projections"], deployment });
  const services = await startPlatform({ roles: [], deployment });
  const names = await serve(services.opened, workflows);
  const { url, opened } = platform;
  const join = async (name: string) => member(url, await platform.organization(name));
  const home = await join("First");

  async function made(answer: Promise<{ status: number; body: any; text: string }>) {
    const { status, body, text } = await answer;
    expect(status, text).toBeLessThan(300);
    return body;
  }
  /** A workflow whose runs are those of one of the test's functions. */
  async function register(name: string, { args, ...more }: Record<string, any> = {}, by = home): Promise<Registered> {
    const source = sourceOf(args);
    const definition = { type: "workflow", name: `${name}_${names.size}`, source };
    const { id } = await made(by.api("POST", "/definitions", definition));
    names.set(id, name);
    return made(by.person("POST", "", { definition_id: id, ...more }));
  }
  async function send<D>(definition: CommandDefinition<string, D>, stream: string, data: D, later_ms = 0) {
    const { rejection } = await opened.bus.sender(opened.log).send({
      id: newCommandId(),
      type: definition.type,
      stream,
      organization_id: home.organization_id,
      principal: "system",
      at: new Date(Date.now() + later_ms).toISOString(),
      deadline: new Date(Date.now() + 15_000).toISOString(),
      request_id: "test",
      data,
    });
    expect(rejection).toBeUndefined();
  }
  const events = async (run: string) => (await opened.log.read(streamOf("run", run))) as Recorded<RunEvent>[];

  return {
    url,
    opened,
    home,
    join,
    made,
    register,
    events,
    /** Another http process on the same deployment: its address. */
    twin: async () => (await startPlatform({ roles: ["http"], deployment })).url,
    hook: (workflow: { id: string }, more: object = {}, by = home): Promise<Hook> =>
      made(by.person("POST", `/${workflow.id}/triggers`, { name: "T", ...more })),
    /** A client of a hook's secret. */
    caller: ({ secret }: Pick<Hook, "secret">) => clientOf({ chat: `${url}/api/workflows` }, secret),
    /** Puts a run into the log as it would stand there after those events; nobody works on it. */
    async logged(stream: string, happened: NewEvent[]): Promise<void> {
      for (let at = 0; at < happened.length; at += CHUNK) {
        const { kind } = await opened.log.append({
          command: {
            id: newCommandId(),
            organization_id: home.organization_id,
            principal: "system",
            request_id: "test",
          },
          events: happened.slice(at, at + CHUNK).map((event, n) => ({ stream, version: at + n + 1, event })),
          heads: [{ stream, state: {}, state_version: 0, status: null, due_at: null, worker: null }],
          keys: {},
          erase: { things: [], streams: [] },
          forget: [],
        });
        expect(kind).toBe("committed");
      }
    },
    /** Destroys a run as its time would. */
    forget: (run_id: string) => send(ForgetRun, streamOf("run", run_id), { run_id }, YEARS_MS),
    /** A new project; its id, and a client of a key of it alone. */
    async project(name: string) {
      const { id } = await made(home.api("POST", "/projects", { name }));
      const { key } = await made(home.api("POST", "/keys", { name, project_id: id }));
      return { id: id as string, key: clientOf({ chat: `${url}/api/workflows` }, key) };
    },
    /** Another person of the organization, signed in. */
    async person(role: "owner" | "admin" | "builder" | "approver" | "viewer", name: string = role) {
      const email = `${name}.${newId()}@example.org`.toLowerCase();
      const { id: user_id, password } = await made(home.api("POST", "/members", { email, name, role }));
      const { token } = await signIn(url, { email, password });
      return { user_id, email, name, token, call: clientOf({ chat: `${url}/api/workflows` }, token) };
    },
    /** Starts a run by session; its id. */
    start: async (workflow: { id: string }, args: object = {}, by = home): Promise<string> =>
      (await made(by.person("POST", `/${workflow.id}/runs`, { args }))).id,
    /** The record of a run once `enough` says so. */
    async until(run: string, enough: (record: any) => boolean, by = home): Promise<any> {
      for (const end = Date.now() + SOON.timeout; ; await sleep(SOON.interval)) {
        const record = await made(by.person("GET", `/runs/${run}`));
        if (enough(record)) return record;
        if (Date.now() > end) throw new Error(`still ${JSON.stringify(record)}`);
      }
    },
  };
}
export type Stage = Awaited<ReturnType<typeof openStage>>;

export const isOver = ({ status }: { status: string }): boolean => status !== "pending" && status !== "running";

/** A promise with its resolve: a step that goes on when the test says so. */
export function gate() {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}
