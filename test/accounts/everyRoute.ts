import { expect } from "vitest";
import { fileForm, say } from "../http/service.ts";
import { until } from "../bus/bus.ts";
import { loseCommand } from "../bus/loseCommand.ts";
import type { Platform } from "../platform.ts";
import { UNKNOWN, type Client, type Tenant } from "../workflows/tenant.ts";
import { openTwoTenants } from "./tenants.ts";

/* Every route of /openapi.json, and for every parameter in their paths one thing of an organization. */

const METHODS = ["get", "post", "put", "patch", "delete"] as const;

/** `METHOD /path` of every route in `/openapi.json`. */
export async function listRoutes(url: string): Promise<string[]> {
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: Record<string, object> };
  return Object.entries(paths).flatMap(([path, methods]) =>
    METHODS.filter((method) => method in methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
}

/** Values of path parameters by the segment before them. */
export type Things = Record<string, string>;

const isParameter = (segment: string): boolean => segment.includes("*") || segment.startsWith("{");
const NOTHING: Things = { models: "offline/none", hooks: "A".repeat(24), "dead-letters": "999999999" };

/** The path of a route with a value for every parameter: that of a thing, or of one that does not exist. */
export function fillPath(route: string, things?: Things): string {
  const segments = route.split(" ")[1]!.split("/");
  return segments
    .map((segment, at) => {
      if (!isParameter(segment)) return segment;
      const value = things ? things[segments[at - 1]!] : (NOTHING[segments[at - 1]!] ?? UNKNOWN);
      if (value === undefined) throw new Error(`${route}: no thing stands for ${segment}`);
      return value;
    })
    .join("/");
}

/** Valid content for routes that check it before they look for the thing in their path. */
function contentOf(route: string): object {
  if (route.endsWith("/decision")) return { decision: "approve" };
  if (route.endsWith("/responses")) return { input: "x" };
  return route.endsWith("/runs") ? { args: {} } : {};
}

/** Calls a route. Without `things` it names nothing that exists, so it changes nothing. `call` has paths below `/api`. */
export const callRoute = (call: Client, route: string, things?: Things, content: object = contentOf(route)) => {
  const [method] = route.split(" ") as [string];
  const path = fillPath(route, things).replace(/^\/api/, "");
  return call(method, path, method === "GET" ? undefined : content);
};

const ASKING = `export const steps = { look: () => 1 };
export async function run(ctx) { await ctx.runStep("look"); await ctx.awaitApproval("go", { title: "Go?" }); }`;

/** Everything that can belong to a project: an agent, and a workflow with an ended run, its step and its decided approval. */
async function createProjectThings({ made, owner, ...tenant }: Tenant, project_id: string | null): Promise<Things> {
  const agent = await made(owner("POST", "/agents", { name: "A", model: "offline/echo", project_id }));
  const workflow = await tenant.register(ASKING, {}, { project_id });
  const run = await tenant.start(workflow);
  await tenant.until(run, ({ waiting_on }) => waiting_on.some(({ type }: { type: string }) => type === "approval"));
  const [approval] = await tenant.approvals(run);
  const link = await made(owner("POST", `/workflows/approvals/${approval.id}/links`));
  await made(tenant.decide(approval));
  await tenant.untilOver(run);
  // no file has this id: where the approval is found, the answer is about the file
  const attachments = run;
  const [step] = (await made(owner("GET", `/workflows/runs/${run}/steps`))).data;
  const link_secret = new URL(link.url).hash.slice(1);
  const ofRun = { runs: run, steps: step.id, approvals: approval.id, links: link.id, link_secret, attachments };
  return { agents: agent.id, workflows: workflow.id, ...ofRun };
}

/** One thing of every kind that a path can name, made by the tenant's owner. */
async function createThings(tenant: Tenant): Promise<Things> {
  const { made, owner, key } = tenant;
  const project_id = (await made(owner("POST", "/projects", { name: "P" }))).id;
  const things = await createProjectThings(tenant, project_id);
  const hook = await tenant.hook({ id: things["workflows"]! });
  const response = await made(owner("POST", `/agents/${things["agents"]}/v1/responses`, { input: "x" }));
  const chat = await key("POST", "/openai/v1/chat/completions", say("x"));
  await tenant.secret("home_secret", "value");
  await made(owner("PUT", "/providers/home", { api_key: "k", base_url: "http://127.0.0.1:9/v1" }));
  await made(owner("PUT", "/budgets/organization", { tokens_per_month: 1_000_000_000 }));
  await made(owner("PUT", "/prices/home/model", { prices: [{ input: "1", output: "2" }] }));
  await made(owner("PUT", "/aliases/home", { targets: [{ model: "offline/echo" }] }));
  const { id: member } = await tenant.member("viewer");
  await made(owner("PUT", "/groups/home", { members: [member] }));
  const collection = await made(owner("POST", "/v1/knowledge/collections", { name: "Home" }));
  const texts = `/v1/knowledge/collections/${collection.slug}/documents/text`;
  const document = await made(owner("POST", texts, { text: "Hello", name: "a.md" }));
  // before that, its text is refused in another way
  await until(async () => (await made(owner("GET", `/v1/knowledge/documents/${document.id}`))).status === "ready");
  const sources = `/v1/knowledge/collections/${collection.slug}/sources`;
  return {
    ...things,
    projects: project_id,
    triggers: hook.id,
    hooks: hook.hook_token,
    hook_secret: hook.secret,
    responses: response.id,
    turns: response.id.slice("resp_".length),
    threads: chat.headers.get("x-thread-id")!,
    secrets: "home_secret",
    providers: "home",
    prices: "home",
    budgets: "organization",
    "{provider}": "model",
    aliases: "home",
    groups: "home",
    models: "offline/echo",
    collections: collection.slug,
    documents: document.id,
    sources: (await made(owner("POST", sources, { kind: "url", url: "http://127.0.0.1:9/" }))).id,
    extractions: (await made(owner("POST", "/v1/extractions", fileForm("Hello", "note.md", { type: "" })))).id,
    files: await tenant.upload("Hello", key),
    retention: "organization",
    holds: (await made(owner("POST", "/holds", { subject: "user:anna", name: "A-1", reason: "A claim" }))).id,
    erasures: (await made(owner("POST", "/erasures", { owner: `key:${UNKNOWN}` }))).id,
    keys: (await made(owner("POST", "/keys", { name: "K" }))).id,
    members: member,
    definitions: (await tenant.define()).id,
  };
}

/** The number of a new dead letter of the tenant. */
async function createDeadLetter({ resources }: Platform, { organization_id, made, owner }: Tenant): Promise<string> {
  await loseCommand(resources, organization_id);
  const letters = async () => (await made(owner("GET", "/dead-letters"))).data;
  await until(async () => (await letters()).length === 1);
  return String((await letters())[0].seq);
}

/** Two organizations; the first has a thing of every kind, in a project, in another one and in none. */
export async function openHomeAndForeign(platform: Platform) {
  const { home, foreign } = await openTwoTenants(platform);
  const things: Things = { ...(await createThings(home)), "dead-letters": await createDeadLetter(platform, home) };
  const elsewhere = await home.project("Elsewhere");
  return {
    home,
    foreign,
    things,
    inOtherProject: { ...things, ...(await createProjectThings(home, elsewhere.id)) },
    inNoProject: { ...things, ...(await createProjectThings(home, null)) },
    keyWith: home.newKey,
    /** Throws unless everything that the tenant made is still there. */
    async expectUntouched() {
      for (const kind of [
        "agents",
        "workflows",
        "members",
        "projects",
        "secrets",
        "providers",
        "aliases",
        "groups",
        "definitions",
      ] as const)
        expect((await home.owner("GET", `/${kind}/${things[kind]}`)).status, kind).toBe(200);
      for (const path of ["/prices/home/model", "/budgets/organization", `/erasures/${things["erasures"]}`])
        expect((await home.owner("GET", path)).status, path).toBe(200);
      expect((await home.owner("GET", "/dead-letters")).body.data).toMatchObject([
        { seq: Number(things["dead-letters"]) },
      ]);
      for (const kind of ["collections", "documents", "sources"])
        expect((await home.owner("GET", `/v1/knowledge/${kind}/${things[kind]}`)).status, kind).toBe(200);
      expect((await home.owner("GET", `/v1/extractions/${things["extractions"]}`)).status).toBe(200);
      const { data: triggers } = (await home.owner("GET", `/workflows/${things["workflows"]}/triggers`)).body;
      expect(triggers.map(({ id }: { id: string }) => id)).toEqual([things["triggers"]]);
      expect((await home.key("GET", `/openai/v1/files/${things["files"]}`)).status).toBe(200);
    },
  };
}
