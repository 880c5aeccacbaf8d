import { beforeAll, describe, expect, test } from "vitest";
import { startPlatform } from "../platform.ts";
import { UNKNOWN, WAITING, workflowSource, type Client, type Tenant } from "../workflows/tenant.ts";
import { openHomeAndForeign, type Things } from "./everyRoute.ts";

/* What a request names in its body or its query, instead of its path, is another organization's: it is answered like what does not exist. */

let stage: Awaited<ReturnType<typeof openHomeAndForeign>>;
let home: Tenant;
let foreign: Tenant;
/** A live run of the other organization. */
let live: string;
/** What the foreign organization itself has. */
const own = { agent: "", workflow: "", definition: "", collection: "", member: "", run: "", approval: "" };
let unknown: Things;

beforeAll(async () => {
  stage = await openHomeAndForeign(await startPlatform());
  ({ home, foreign } = stage);
  const { made, owner } = foreign;
  const workflow = await foreign.register(WAITING);
  own.agent = await foreign.newAgent();
  own.workflow = workflow.id;
  own.definition = workflow.definition.id;
  own.collection = (await made(owner("POST", "/v1/knowledge/collections", { name: "Mine" }))).slug;
  own.member = (await foreign.member("approver")).id;
  own.run = await foreign.start(workflow);
  const asks = ({ waiting_on }: { waiting_on: object[] }): boolean => waiting_on.length > 0;
  await foreign.until(own.run, asks);
  own.approval = (await foreign.approvals(own.run))[0].id;
  live = await home.start(await home.register(WAITING));
  await home.until(live, asks);
  unknown = Object.fromEntries(Object.keys(stage.things).map((kind) => [kind, UNKNOWN]));
  Object.assign(unknown, {
    collections: "none",
    aliases: "none",
    secrets: "none",
    groups: "none",
    responses: `resp_${UNKNOWN}`,
  });
});

type Request = [method: string, path: string, body?: unknown, headers?: Record<string, string>];
type Case = [title: string, request: (named: Things) => Request, by?: "owner" | "key"];

const say = (more: object): object => ({ model: "offline/echo", messages: [{ role: "user", content: "x" }], ...more });
const retention = { threads: "30d" };
const UNTIL = new Date(Date.now() + 30 * 86_400_000).toISOString();

const cases: Case[] = [
  // before anything names the same: an export has the events that name its subject
  ["an export of a key", ({ keys }) => ["GET", `/exports?subject=key:${keys}`]],
  ["an export of a person", ({ members }) => ["GET", `/exports?subject=person:${members}`]],
  ["a key in a project", ({ projects }) => ["POST", "/keys", { name: "K", project_id: projects }]],
  [
    "an agent with collections",
    ({ collections }) => ["POST", "/agents", { name: "A", model: "offline/echo", collections: [collections] }],
  ],
  [
    "an agent whose tools people approve",
    ({ members }) => [
      "POST",
      "/agents",
      {
        name: "A",
        model: "offline/echo",
        tools: ["web_fetch"],
        tool_approvals: { web_fetch: { assignees: [{ person: members }] } },
      },
    ],
  ],
  ["a workflow of a definition", ({ definitions }) => ["POST", "/workflows", { definition_id: definitions }]],
  [
    "a workflow in a project",
    ({ projects }) => ["POST", "/workflows", { definition_id: own.definition, project_id: projects }],
  ],
  ["a group of members", ({ members }) => ["PUT", "/groups/mine", { members: [members] }]],
  [
    "a substitute of somebody",
    ({ members }) => ["PUT", `/members/${members}/substitute`, { substitute: own.member, until: UNTIL }],
  ],
  [
    "somebody as a substitute",
    ({ members }) => ["PUT", `/members/${own.member}/substitute`, { substitute: members, until: UNTIL }],
  ],
  ["a budget of a key", ({ keys }) => ["PUT", `/budgets/key:${keys}`, { tokens_per_day: 1 }]],
  ["retention of a project", ({ projects }) => ["PUT", `/retention/project:${projects}`, retention]],
  ["a preview of retention", ({ projects }) => ["POST", `/retention/project:${projects}/preview`, retention]],
  ["threads of a key", ({ keys }) => ["GET", `/threads?owner=key:${keys}`]],
  ["files of a person", ({ members }) => ["GET", `/files?owner=person:${members}`]],
  ["responses of an agent", ({ agents }) => ["GET", `/responses?owner=agent:${agents}`]],
  ["turns of an agent", ({ agents }) => ["GET", `/turns?agent_id=${agents}`]],
  ["anything by its id", ({ runs }) => ["GET", `/find?id=${runs}`]],
  ["events of a stream", ({ runs }) => ["GET", `/events?stream=run-${runs}`]],
  ["a histogram of a stream", ({ agents }) => ["GET", `/events/histogram?stream=agent-${agents}`]],
  ["runs of a workflow", ({ workflows }) => ["GET", `/workflows/runs?workflow_id=${workflows}`]],
  ["runs that retry one", ({ runs }) => ["GET", `/workflows/runs?parent_id=${runs}`]],
  [
    "a change of the runs of a workflow",
    ({ workflows }) => [
      "POST",
      "/workflows/runs/change",
      { action: "cancel", filter: { workflow_id: workflows, status: "running" }, dry_run: false },
    ],
  ],
  [
    "a check against the runs of a workflow",
    ({ workflows }) => [
      "POST",
      `/definitions/${own.definition}/check-runs`,
      { source: WAITING, workflow_id: workflows },
    ],
  ],
  [
    "a start with a file",
    ({ files }) => ["POST", `/workflows/${own.workflow}/runs`, { args: {}, files: [files] }],
    "key",
  ],
  [
    "an approval handed to a person",
    ({ members }) => ["POST", `/workflows/approvals/${own.approval}/delegate`, { to: members, reason: "x" }],
  ],
  [
    "a turn in a thread",
    ({ threads }) => ["POST", "/openai/v1/chat/completions", say({}), { "x-thread-id": threads! }],
    "key",
  ],
  ["a turn with a file", ({ files }) => ["POST", "/openai/v1/chat/completions", say({ attachments: [files] })], "key"],
  [
    "a turn with knowledge",
    ({ collections }) => ["POST", "/openai/v1/chat/completions", say({ knowledge: { collections: [collections] } })],
    "key",
  ],
  ["a turn of an alias", ({ aliases }) => ["POST", "/openai/v1/chat/completions", say({ model: aliases })], "key"],
  [
    "a search in a collection",
    ({ collections }) => ["POST", "/v1/knowledge/search", { query: "Hello", collections: [collections] }],
    "key",
  ],
  [
    "a search in a document",
    ({ documents }) => ["POST", "/v1/knowledge/search", { query: "Hello", document_ids: [documents] }],
    "key",
  ],
  [
    "a citation of a document",
    ({ documents }) => [
      "POST",
      "/v1/knowledge/verify",
      { answer: "Hello [1].", citations: [{ n: 1, document_id: documents, version: 1, seq: 0 }] },
    ],
    "key",
  ],
  [
    "a batch for a collection",
    ({ collections }) => [
      "POST",
      "/v1/knowledge/documents/batch",
      { collection: collections, documents: [{ text: "x", name: "x.md" }] },
    ],
    "key",
  ],
];

/** Removes ids, names, times and random values. */
const normal = (text: string): string =>
  text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|\b(?:home|none)\b/g, "…")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "…")
    .replaceAll(/"(cursor|trace_id|command_id)":"[^"]*"/g, "…");

describe("an id of another organization is treated like an unknown one by", () => {
  test.each(cases)("%s", async (_title, request, by = "owner") => {
    const callers: Client[] = by === "key" ? [foreign.key, foreign.owner] : [foreign.owner];
    for (const call of callers) {
      const [theirs, none] = [await call(...request(stage.things)), await call(...request(unknown))];
      expect(theirs.status, theirs.text).toBeLessThan(500);
      // a wrong shape would be refused before anything is looked for
      expect(theirs.body?.error?.code, theirs.text).not.toBeNull();
      expect([theirs.status, normal(theirs.text)]).toEqual([none.status, normal(none.text)]);
    }
  });

  test("holds, and the hold keeps nothing", async () => {
    const { threads, agents, projects, definitions, keys } = stage.things;
    const subjects = { thread: threads, agent: agents, project: projects, definition: definitions, key: keys };
    for (const [kind, id] of Object.entries(subjects)) {
      const hold = (subject: string) => foreign.owner("POST", "/holds", { subject, name: "H", reason: "x" });
      const [theirs, none] = [await hold(`${kind}:${id}`), await hold(`${kind}:${UNKNOWN}`)];
      expect([theirs.status, theirs.body.error?.code], kind).toEqual([none.status, none.body.error?.code]);
    }
    const another = await home.newAgent();
    await foreign.owner("POST", "/holds", { subject: `agent:${another}`, name: "H", reason: "x" });
    expect((await home.owner("DELETE", `/agents/${another}`)).status).toBe(204);
  });

  test("erasures, and the erasure deletes nothing", async () => {
    const { body } = await home.owner("GET", "/keys");
    for (const { id } of body.data) await foreign.owner("POST", "/erasures", { owner: `key:${id}` });
    await foreign.owner("POST", "/erasures", { owner: `agent:${stage.things["agents"]}` });
    expect((await home.key("GET", `/openai/v1/threads/${stage.things["threads"]}/messages`)).status).toBe(200);
  });
});

const ATTEMPTS: Record<string, string> = {
  "a file": `ctx.runStep("read", { file_id: args.files })`,
  "a collection to write into": `ctx.runStep("push", { collection: args.collections, text: "x" })`,
  "a document to remove": `ctx.runStep("remove", { document_id: args.documents })`,
  "an agent": `ctx.agent(args.agents, "x")`,
  "a thread of an agent": `ctx.agent(args.own, "x", { thread_id: args.threads })`,
  "a workflow to start": `ctx.startRun(args.workflows, {})`,
  "a run to wait for": `ctx.waitForRun(args.runs, { timeout: "1s" })`,
  "people who approve": `ctx.awaitApproval("a", { title: "A?", assignees: [{ person: args.members }], expires_in: "1s" })`,
};
const STEPS = `read: (a, ctx) => ctx.files.read(a), push: (a, ctx) => ctx.knowledge.push(a), remove: (a, ctx) => ctx.knowledge.remove(a)`;

describe("a run cannot use another organization's", () => {
  test.each(Object.entries(ATTEMPTS))("%s", async (_title, attempt) => {
    const workflow = await foreign.register(workflowSource(`return ${attempt};`, STEPS), {
      writable_collections: ["*"],
      agents: ["*"],
    });
    const outcome = async (named: Things) => {
      const { status, result, error } = await foreign.untilOver(
        await foreign.start(workflow, { ...named, own: own.agent }),
      );
      return [status, normal(JSON.stringify([result, error]))];
    };
    expect(await outcome(stage.things)).toEqual(await outcome(unknown));
  });
});

test("an event reaches no run of another organization, even if only one run waits", async () => {
  const waiting = await home.start(await home.register(workflowSource(`return ctx.waitForEvent("paid");`)));
  await home.until(waiting, ({ waiting_on }) => waiting_on.length > 0);
  for (const to of ["one", "all"]) {
    const { body } = await foreign.key("POST", "/workflows/events", { name: "paid", data: {}, to });
    expect(body.reached ?? 0).toBe(0);
  }
  expect((await home.read(waiting)).status).toBe("running");
  await home.cancel(waiting);
});

test("requests with ids of another organization change nothing", async () => {
  expect((await home.read(live)).status).toBe("running");
  await stage.expectUntouched();
});
