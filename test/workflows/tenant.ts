import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { newId } from "#events/ids.ts";
import type { Credentials } from "../../cli/organization.ts";
import { signIn } from "../agents/agents.ts";
import { clientOf, code, fileForm, UNKNOWN } from "../http/service.ts";
import { SOON } from "../soon.ts";

export { code, SOON, UNKNOWN };
/** A workflow whose runs stay live until they are cancelled. */
export const WAITING = `export async function run(ctx) { await ctx.awaitApproval("go", { title: "Go?" }); }`;
/** The same with a description, and secrets that its steps ask for. */
export const waitingWithSecrets = (...secrets: string[]): string =>
  `export const meta = ${JSON.stringify({ description: "Asks", secrets })};\n${WAITING}`;

export const isOver = ({ status }: { status: string }): boolean => status !== "pending" && status !== "running";

/** Source of a workflow: the body of `run(ctx, args)`, its steps, and its `meta`. */
export const workflowSource = (run: string, steps = "", meta: object = {}): string =>
  `export const meta = ${JSON.stringify(meta)};
export const steps = {${steps}};
export async function run(ctx, args) {
${run}
}
`;

export type Client = ReturnType<typeof clientOf>;
type Answer = Awaited<ReturnType<Client>>;
export interface Workflow {
  id: string;
  definition: { id: string; version: number };
}
export interface Hook {
  id: string;
  hook_token: string;
  hook_url: string;
  secret: string;
  set_by: string;
}

let names = 0;

/** An organization over HTTP alone: its owner, its key, and short ways to its workflows. Paths of clients start below `/api`. */
export async function openTenant(url: string, credentials: Credentials) {
  const clientAt = (secret: string): Client => clientOf({ chat: `${url}/api` }, secret);
  const { call: owner, token } = await signIn(url, credentials.admin);
  const key = clientAt(credentials.api_key);

  /** The body of an answer that must be a success. */
  async function made(answer: Promise<Answer>): Promise<any> {
    const { status, body, text } = await answer;
    expect(status, text).toBeLessThan(300);
    return body;
  }
  /** Creates a key; returns its id and a client with it. */
  async function newKey(settings: object = {}): Promise<{ id: string; call: Client }> {
    const { id, key: secret } = await made(owner("POST", "/keys", { name: "K", ...settings }));
    return { id, call: clientAt(secret) };
  }
  const define = (source = WAITING, more: object = {}): Promise<any> =>
    made(owner("POST", "/definitions", { type: "workflow", name: `workflow_${++names}`, source, ...more }));
  const register = async (
    source?: string,
    envelope: object = {},
    { definition_id, ...more }: Record<string, unknown> = {},
  ): Promise<any> =>
    made(owner("POST", "/workflows", { definition_id: definition_id ?? (await define(source)).id, envelope, ...more }));
  const start = async ({ id }: { id: string }, args: object = {}, by = owner): Promise<string> =>
    (await made(by("POST", `/workflows/${id}/runs`, { args }))).id;
  const read = (run: string, by = owner): Promise<any> => made(by("GET", `/workflows/runs/${run}`));
  /** The record of a run once it is `enough`. Long runs have large records, so the interval grows. */
  async function until(run: string, enough: (record: any) => boolean, within_ms = SOON.timeout): Promise<any> {
    let pause = SOON.interval;
    for (const end = Date.now() + within_ms; ; await sleep((pause = Math.min(500, pause * 1.2)))) {
      const record = await read(run);
      if (enough(record)) return record;
      if (Date.now() > end) throw new Error(`still ${JSON.stringify(record)}`);
    }
  }
  const untilOver = (run: string, within_ms?: number): Promise<any> => until(run, isOver, within_ms);
  const approvals = async (run: string): Promise<any[]> =>
    (await made(owner("GET", `/workflows/runs/${run}/approvals`))).data;
  /** A client of a hook's secret. */
  const caller = ({ secret }: Pick<Hook, "secret">): Client => clientAt(secret);

  return {
    url,
    credentials,
    organization_id: credentials.organization_id,
    token,
    owner,
    key,
    clientAt,
    made,
    newKey,
    /** A new agent: its id. */
    newAgent: async (settings: object = {}): Promise<string> =>
      (await made(owner("POST", "/agents", { name: `A${newId()}`, model: "offline/echo", ...settings }))).id,
    /** Uploads a text file: its id. */
    upload: async (text: string, by = owner, name = "note.txt"): Promise<string> =>
      (await made(by("POST", "/openai/v1/files", fileForm(text, name)))).id,
    define,
    register,
    start,
    read,
    until,
    untilOver,
    approvals,
    caller,
    /** Registers a workflow and starts it: the record of the run that is over. */
    run: async (source: string, args: object = {}, envelope: object = {}): Promise<any> =>
      untilOver(await start(await register(source, envelope), args)),
    /** The pending approvals of a run once there are `count` of them, oldest first. */
    async pending(run: string, count = 1): Promise<any[]> {
      const pending = async () => (await approvals(run)).filter(({ status }) => status === "pending");
      await expect.poll(async () => (await pending()).length, SOON).toBe(count);
      return pending();
    },
    decide: ({ id }: { id: string }, body: object | "approve" | "reject" = "approve", by = owner) =>
      by("POST", `/workflows/approvals/${id}/decision`, typeof body === "string" ? { decision: body } : body),
    /** The names of all events that followers of an ended run receive. */
    async followedEvents(run: string): Promise<string[]> {
      const { text } = await owner("GET", `/workflows/runs/${run}/events`);
      return [...text.matchAll(/^event: (.+)$/gm)].map(([, name]) => name!);
    },
    cancel: (run: string, by = owner) => by("POST", `/workflows/runs/${run}/cancel`),
    edit: ({ id }: { id: string }, change: object): Promise<any> => made(owner("PATCH", `/workflows/${id}`, change)),
    secret: (name: string, value: string): Promise<any> => made(owner("PUT", `/secrets/${name}`, { value })),
    hook: ({ id }: { id: string }, more: object = {}): Promise<Hook> =>
      made(owner("POST", `/workflows/${id}/triggers`, { name: "T", ...more })),
    /** Calls a hook; its answer. */
    call: (hook: Hook, payload: object = {}): Promise<any> =>
      made(caller(hook)("POST", `/workflows/hooks/${hook.hook_token}`, payload)),
    /** The answer of a hook's poll once the run is over. */
    async polled(hook: Hook, run: string): Promise<any> {
      const poll = async () => (await caller(hook)("GET", `/workflows/hooks/${hook.hook_token}/runs/${run}`)).body;
      await expect.poll(async () => isOver(await poll()), SOON).toBe(true);
      return poll();
    },
    /** A new project: its id, and a client of a key of this project. */
    async project(name = "P"): Promise<{ id: string; key: Client }> {
      const { id } = await made(owner("POST", "/projects", { name }));
      return { id, key: (await newKey({ name, project_id: id })).call };
    },
    /** Another person of the organization, signed in. */
    async member(role: "owner" | "admin" | "builder" | "approver" | "viewer", name: string = role) {
      const email = `${name}.${newId()}@example.org`.toLowerCase();
      const { id, password } = await made(owner("POST", "/members", { email, name, role }));
      const session = await signIn(url, { email, password });
      return { id: id as string, email, name, token: session.token, call: session.call };
    },
  };
}
export type Tenant = Awaited<ReturnType<typeof openTenant>>;
