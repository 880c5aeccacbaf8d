import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect } from "vitest";
import type { Credentials } from "../../cli/organization.ts";
import { signIn } from "../agents/agents.ts";
import { clientOf } from "../http/service.ts";
import { startPlatform } from "../platform.ts";
import { openSite } from "../tools/site.ts";
import { isOver } from "./stage.ts";

/** What a run may take on a busy machine. */
const SOON = { timeout: 60_000, interval: 20 };

// A hook that is registered within another is not run, so the one that closes the shops stands here.
const shops: { close(): void }[] = [];
afterAll(() => shops.forEach((shop) => shop.close()));

/** Source of a workflow: the body of `run(ctx, args)`, its steps as they are written, and what it says of itself. */
export const workflowOf = (run: string, steps = "", meta: object = {}): string =>
  `export const meta = ${JSON.stringify(meta)};
export const steps = {${steps}};
export async function run(ctx, args) {
${run}
}
`;

/** Where steps leave traces: it counts what it was asked for by path, and holds back answers to `/hold/…` until the test lets them go. */
export async function openShop() {
  const held = new Map<string, PromiseWithResolvers<void>>();
  const gate = (path: string): PromiseWithResolvers<void> => {
    const found = held.get(path) ?? Promise.withResolvers<void>();
    held.set(path, found);
    return found;
  };
  const heard: { path: string; headers: Record<string, string | string[] | undefined> }[] = [];
  const site = await openSite(({ url = "", headers }, response) => {
    heard.push({ path: url, headers });
    const nth = heard.filter(({ path }) => path === url).length;
    const answer = () =>
      void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ nth }));
    if (url.startsWith("/hold/")) void gate(url).promise.then(answer);
    else answer();
  });
  const shop = {
    host: site.host,
    url: site.url,
    heard,
    /** How often a path was asked for. */
    times: (path: string): number => heard.filter((one) => one.path === path).length,
    /** Resolves once a path was asked for so often. */
    asked: (path: string, times = 1) => expect.poll(() => shop.times(path), SOON).toBeGreaterThanOrEqual(times),
    /** Lets what is held back at a path go, and all that comes after it. */
    release: (path: string): void => gate(path).resolve(),
    close(): void {
      for (const { resolve } of held.values()) resolve();
      site.close();
    },
  };
  shops.push(shop);
  return shop;
}
export type Shop = Awaited<ReturnType<typeof openShop>>;

export interface Hook {
  id: string;
  hook_token: string;
  hook_url: string;
  secret: string;
}
interface Registered {
  id: string;
  definition: { id: string; version: number };
}

let names = 0;

/** One organization over HTTP and nothing else: its owner, its key, and short ways to its workflows. */
export async function openTenant(url: string, credentials: Credentials) {
  const { call: api, token } = await signIn(url, credentials.admin);
  const clientAt = (secret: string) => clientOf({ chat: `${url}/api` }, secret);
  const key = clientAt(credentials.api_key);

  async function made(answer: ReturnType<typeof api>): Promise<any> {
    const { status, body, text } = await answer;
    expect(status, text).toBeLessThan(300);
    return body;
  }
  const define = (source: string): Promise<any> =>
    made(api("POST", "/definitions", { type: "workflow", name: `workflow_${++names}`, source }));
  const register = async (source: string, envelope: object = {}, more: object = {}): Promise<Registered> =>
    made(api("POST", "/workflows", { definition_id: (await define(source)).id, envelope, ...more }));
  const start = async ({ id }: { id: string }, args: object = {}, by = api): Promise<string> =>
    (await made(by("POST", `/workflows/${id}/runs`, { args }))).id;
  const read = (run: string, by = api): Promise<any> => made(by("GET", `/workflows/runs/${run}`));
  /** The record of a run once `enough` says so. A long run has a long record, so it is looked at less and less often. */
  async function until(run: string, enough: (record: any) => boolean, within_ms = SOON.timeout): Promise<any> {
    let pause = SOON.interval;
    for (const end = Date.now() + within_ms; ; await sleep((pause = Math.min(500, pause * 1.2)))) {
      const record = await read(run);
      if (enough(record)) return record;
      if (Date.now() > end) throw new Error(`still ${JSON.stringify(record)}`);
    }
  }
  const over = (run: string, within_ms?: number): Promise<any> => until(run, isOver, within_ms);
  const approvals = async (run: string): Promise<any[]> =>
    (await made(api("GET", `/workflows/runs/${run}/approvals`))).data;

  return {
    url,
    credentials,
    api,
    key,
    token,
    made,
    define,
    register,
    start,
    read,
    until,
    over,
    approvals,
    clientAt,
    /** Registers, starts, and waits for the end: the record. */
    run: async (source: string, args: object = {}, envelope: object = {}): Promise<any> =>
      over(await start(await register(source, envelope), args)),
    /** So many approvals of a run that wait for a decision, in the order in which they were asked. */
    async pending(run: string, count = 1): Promise<any[]> {
      const wait = async () => (await approvals(run)).filter(({ status }) => status === "pending");
      await expect.poll(async () => (await wait()).length, SOON).toBe(count);
      return wait();
    },
    decide: ({ id }: { id: string }, body: object | "approve" | "reject" = "approve", by = api) =>
      by("POST", `/workflows/approvals/${id}/decision`, typeof body === "string" ? { decision: body } : body),
    cancel: (run: string, by = api) => by("POST", `/workflows/runs/${run}/cancel`),
    edit: ({ id }: { id: string }, change: object): Promise<any> => made(api("PATCH", `/workflows/${id}`, change)),
    secret: (name: string, value: string): Promise<any> => made(api("PUT", `/secrets/${name}`, { value })),
    hook: ({ id }: { id: string }, more: object = {}): Promise<Hook> =>
      made(api("POST", `/workflows/${id}/triggers`, { name: "T", ...more })),
    /** Calls a hook; what it answers. */
    call: async ({ hook_token, secret }: Hook, payload: object = {}): Promise<any> =>
      made(clientAt(secret)("POST", `/workflows/hooks/${hook_token}`, payload)),
    /** What the poll of a hook says once its run is over. */
    async polled({ hook_token, secret }: Hook, run: string): Promise<any> {
      const poll = async () => (await clientAt(secret)("GET", `/workflows/hooks/${hook_token}/runs/${run}`)).body;
      await expect.poll(async () => isOver(await poll()), SOON).toBe(true);
      return poll();
    },
  };
}
export type Tenant = Awaited<ReturnType<typeof openTenant>>;

/** The whole service in this process, a shop that its steps may reach, and one organization with the rules that let them. */
export async function openWorkshop(env: Record<string, string> = {}) {
  const shop = await openShop();
  const platform = await startPlatform({ env: { PRIVATE_FETCH_HOSTS: shop.host, ...env } });
  return {
    platform,
    shop,
    egress: { egress: [shop.host] },
    home: await openTenant(platform.url, await platform.organization("Home")),
    join: async (name: string) => openTenant(platform.url, await platform.organization(name)),
  };
}
export type Workshop = Awaited<ReturnType<typeof openWorkshop>>;
