import { beforeAll, describe, expect, test, vi } from "vitest";
import { addMoney } from "#events/money.ts";
import { toolSource } from "../tools/desk.ts";
import { clientOf, fileForm, say } from "../http/service.ts";
import { expectRefusal } from "../hostile/target.ts";
import { readAllEvents } from "./audit.ts";
import { openPeople, type People } from "./people.ts";
import { ALONE } from "../sharedPlatform.ts";

/* GET /api/usage: equal to the sums over the log. */

let people: People;
let agent: string;
let workflow: string;
let project: string;
let second: { id: string; key: string };
let ada: { thread: string };
beforeAll(async () => {
  people = await openPeople(ALONE);
  await people.service.organization("Others");
  await useEverything();
});

type Counts = Record<string, number>;
type Sums = Counts & { cost: any };
const usage = async (query = ""): Promise<any> => {
  const { status, body, text } = await people.owner("GET", `/usage?limit=500${query}`);
  if (status !== 200) throw new Error(text);
  return body;
};
const soon = { timeout: 60_000, interval: 100 };

/** Uses everything that counts as usage. */
async function useEverything(): Promise<void> {
  const { service, owner, api } = people;
  // the other model of this test has no price
  await owner("PUT", "/prices/offline/echo", { prices: [{ input: "0.15", output: "0.6" }] });
  await owner("PUT", "/prices/reading/pages", { prices: [{ per_page: "0.0015" }] });
  project = (await owner("POST", "/projects", { name: "Venture" })).body.id;
  agent = (await owner("POST", "/agents", { name: "Helper", model: "offline/echo", project_id: project })).body.id;
  second = (await owner("POST", "/keys", { name: "Second", project_id: project })).body;
  const [first, other] = [clientOf(service, service.credentials.api_key), clientOf(service, second.key)];
  await first("POST", "/chat/completions", say("Nobody's"));
  const hers = await first("POST", "/chat/completions", say("Ada's", { user: "ada" }));
  ada = { thread: hers.headers.get("x-thread-id")! };
  await other("POST", "/chat/completions", say("Ada's too, by another key", { user: "ada" }));
  await people.define(toolSource("return 1"), { name: "own" });
  await people.obey(["/tool own {}", "/say done"], ["own"]);
  await other("POST", "/chat/completions", say("/say some words\n/cut", { model: "offline/scripted", stream: true }));
  await clientOf(
    service,
    (await people.login(service.credentials.admin.email, service.credentials.admin.password)).body.token,
  )("POST", "/chat/completions", say("A person's"));
  await clientOf({ chat: `${api}/agents/${agent}/v1` }, second.key)("POST", "/responses", { input: "To the agent" });
  workflow = await runWorkflow();
  const knowledge = clientOf({ chat: `${api}/v1/knowledge` }, second.key);
  await knowledge("POST", "/collections", { name: "Shelf" });
  const text = "Words. ".repeat(1_000);
  const { id } = (await knowledge("POST", "/collections/shelf/documents/text", { text, name: "a.md" })).body;
  await vi.waitFor(async () => expect((await knowledge("GET", `/documents/${id}`)).body.status).toBe("ready"), soon);
  const form = fileForm(`${text} Extracted.`, "b.md", { type: "text/markdown" });
  const extraction = (await clientOf({ chat: `${api}/v1` }, service.credentials.api_key)("POST", "/extractions", form))
    .body;
  const read = clientOf({ chat: `${api}/v1` }, service.credentials.api_key);
  await vi.waitFor(
    async () => expect((await read("GET", `/extractions/${extraction.id}`)).body.status).toBe("ready"),
    soon,
  );
}

/** Runs a workflow whose step asks a model once; the id of the workflow. */
async function runWorkflow(): Promise<string> {
  const { owner } = people;
  const source = `export const steps = { ask: (_, ctx) => ctx.chat({ model: "offline/echo", messages: [{ role: "user", content: "Hi" }] }) };
    export const run = (ctx) => ctx.runStep("ask");`;
  const definition = (await owner("POST", "/definitions", { type: "workflow", name: "asks", source })).body.id;
  const { id } = (await owner("POST", "/workflows", { definition_id: definition, name: "Asks" })).body;
  const run = (await owner("POST", `/workflows/${id}/runs`, { args: {} })).body.id;
  const ended = await owner("GET", `/workflows/runs/${run}?wait=30`);
  expect(ended.body.status).toBe("completed");
  return id;
}

const NO_COUNTS: Counts = {
  turns: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  cached_tokens: 0,
  reasoning_tokens: 0,
  pages: 0,
  turns_without_cost: 0,
};
const NOTHING = { ...NO_COUNTS, cost: null } as Sums;
function plus(a: Sums, b: Partial<Sums>): Sums {
  const counts = Object.keys(NO_COUNTS).map((name) => [name, a[name]! + (b[name] ?? 0)]);
  const costs: string[] = [a.cost, b.cost].filter((cost) => cost !== null && cost !== undefined);
  return { ...Object.fromEntries(counts), cost: costs.length > 0 ? costs.reduce(addMoney) : null };
}

/** The principal that an event's usage counts for; for a turn of a step, the one behind the run. */
function payerIn({ principal, data: { asked_by } }: any): string {
  if (principal !== "system" || !asked_by) return principal;
  return `${asked_by.type === "api_key" ? "key" : asked_by.type}:${asked_by.id}`;
}

/** The usage in the events of the log, grouped by a function of each event. */
async function sumLog(groupBy: (event: any, started: any) => string): Promise<Map<string, Sums>> {
  const events = await readAllEvents(people.owner);
  const sums = new Map<string, Sums>();
  const opened = new Map<string, any>();
  for (const event of events) {
    const { type, data } = event;
    const thing = data.turn_id ?? data.document_id ?? data.extraction_id;
    if (["TurnStarted", "DocumentUploaded", "ExtractionRequested"].includes(type))
      opened.set(thing, { ...event, principal: payerIn(event) });
    const ends = ["TurnCompleted", "TurnFailed", "TurnStopped"].includes(type);
    if (!ends && !data.units) continue;
    const spent = ends
      ? {
          ...data.usage,
          turns: 1,
          turns_without_cost: data.usage.cost === undefined ? 1 : 0,
          total_tokens: data.usage.prompt_tokens + data.usage.completion_tokens,
        }
      : { pages: data.units, cost: data.cost };
    const group = groupBy(event, opened.get(thing));
    sums.set(group, plus(sums.get(group) ?? NOTHING, spent));
  }
  return sums;
}

/** Of a turn as its start has it; a document has that of its key. */
const projectOf = ({ type, principal, data }: any): string =>
  String(type === "TurnStarted" ? (data.project_id ?? null) : principal === `key:${second.id}` ? project : null);

describe("the usage report", () => {
  const groupings: [string, (row: any) => string, Parameters<typeof sumLog>[0]][] = [
    ["day", ({ day }) => day, ({ recorded_at }) => recorded_at.slice(0, 10)],
    [
      "key",
      ({ key }) => String(key),
      (_, { principal }) => (principal.startsWith("key:") ? principal.slice(4) : "null"),
    ],
    [
      "person",
      ({ person }) => String(person),
      (_, { principal }) => (principal.startsWith("person:") ? principal.slice(7) : "null"),
    ],
    ["project", (row) => String(row.project), (_, opened) => projectOf(opened)],
    ["model", ({ model }) => String(model), (_, { data }) => String(data.model ?? null)],
    ["agent", (row) => String(row.agent), (_, { data }) => String(data.agent?.agent_id ?? null)],
    ["workflow", (row) => String(row.workflow), (_, { data }) => String(data.workflow_id ?? null)],
    [
      "user",
      ({ user, member }) => `${user} ${member}`,
      (_, { principal, personal }) =>
        `${personal.input?.prompt.user ?? null} ${principal.startsWith("person:") ? principal.slice(7) : null}`,
    ],
  ];

  test.each(groupings)("grouped by %s equals the sums over the log", async (by, ofRow, ofEvent) => {
    const { data, totals, total, group_by } = await usage(`&group_by=${by}`);
    expect([group_by, total]).toEqual([by, data.length]);
    const expected = await sumLog(ofEvent);
    const found = new Map(data.map((row: any) => [ofRow(row), plus(NOTHING, row)]));
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
    expect([...expected.values()].reduce(plus)).toEqual(totals);
    expect(totals.cost).toMatch(/^0\.009\d+$/);
    expect(data.length).toBeGreaterThan(by === "day" ? 0 : 1);
  });

  test("contains every kind of usage in this test", async () => {
    const { totals } = await usage();
    expect(totals).toMatchObject({ turns: 8, pages: 6, turns_without_cost: 2 });
    expect(totals.prompt_tokens * totals.completion_tokens).toBeGreaterThan(0);
    const ofPages = (await usage("&group_by=model")).data.find((row: any) => row.model === null);
    expect(ofPages).toMatchObject({ turns: 0, pages: 6, cost: "0.009", turns_without_cost: 0 });
  });
});

test("the usage report names keys, agents and members until they are deleted", async () => {
  const findRow = async (by: string, id: string) =>
    (await usage(`&group_by=${by}`)).data.find((row: any) => row[by] === id || row.member === id);
  expect(await findRow("key", second.id)).toMatchObject({ name: "Second" });
  expect(await findRow("project", project)).toMatchObject({ name: "Venture", pages: 3 });
  expect(await findRow("agent", agent)).toMatchObject({ name: "Helper", turns: 1 });
  expect(await findRow("workflow", workflow)).toMatchObject({ name: "Asks", turns: 1 });
  const { id } = (await people.owner("GET", "/auth/me")).body.user;
  // a turn, and that of the run that the administrator started
  expect(await findRow("user", id)).toMatchObject({ user: null, name: "Administrator", turns: 2 });
  expect(await findRow("person", id)).toMatchObject({ name: "Administrator" });
  await people.owner("DELETE", `/agents/${agent}`);
  expect(await findRow("agent", agent)).toMatchObject({ name: null, turns: 1 });
});

test("deleting a thread keeps its usage but removes the user from the usage", async () => {
  const before = (await usage()).totals;
  const mine = clientOf(people.service, people.service.credentials.api_key);
  const ofAda = async () => (await usage("&group_by=user")).data.find(({ user }: any) => user === "ada")?.turns;
  expect(await ofAda()).toBe(2);
  expect((await mine("DELETE", `/threads/${ada.thread}?user=ada`)).status).toBe(200);
  expect(await ofAda()).toBe(1);
  expect((await usage()).totals).toEqual(before);
});

test("the period of a usage report includes its start and excludes its end", async () => {
  const { rows } = await people.service.pool.query<{ at: Date }>("select at from read.usage order by at limit 1");
  const at = rows[0]!.at.toISOString();
  const after = new Date(rows[0]!.at.getTime() + 1).toISOString();
  expect(
    (await usage(`&from=${at}&to=${after}`)).totals.turns + (await usage(`&from=${at}&to=${after}`)).totals.pages,
  ).toBeGreaterThan(0);
  expect((await usage(`&from=2020-01-01&to=${at}`)).totals).toEqual(NOTHING);
  const today = at.slice(0, 10);
  expect(await usage(`&from=${today}`)).toMatchObject({ from: `${today}T00:00:00.000Z`, totals: { turns: 8 } });
  expect((await usage(`&to=${today}`)).totals).toEqual(NOTHING);
  const zoned = encodeURIComponent(at.replace("Z", "+00:00"));
  expect((await usage(`&to=${zoned}`)).totals).toEqual(NOTHING);
});

test("the pages of a usage report contain every group once", async () => {
  const all = (await usage("&group_by=key")).data;
  const one = async (offset: number) =>
    (await people.owner("GET", `/usage?group_by=key&limit=1&offset=${offset}`)).body;
  const found = await Promise.all(all.map((_: unknown, n: number) => one(n)));
  expect(found.flatMap(({ data }) => data)).toEqual(all);
  expect(await one(all.length)).toMatchObject({ data: [], total: all.length, limit: 1, offset: all.length });
});

test.each(["day", "project", "key", "person", "user", "model", "agent", "workflow"])(
  "the CSV of usage by %s contains every group",
  async (by) => {
    const { data } = await usage(`&group_by=${by}`);
    const { status, text, headers } = await people.owner("GET", `/usage?format=csv&group_by=${by}`);
    expect([status, headers.get("content-type")]).toEqual([200, "text/csv; charset=utf-8"]);
    expect(headers.get("content-disposition")).toContain("usage.csv");
    const [first = "", ...lines] = text.trimEnd().split("\r\n");
    const columns = first.split(",");
    expect(columns).toEqual(expect.arrayContaining([by, "turns", "prompt_tokens", "cost", "turns_without_cost"]));
    expect(lines).toEqual(data.map((row: any) => columns.map((column) => row[column] ?? "").join(",")));
  },
);

test("a usage report contains nothing of another organization", async () => {
  const stranger = await people.signIn(await people.service.organization("Strangers"));
  expect((await stranger("GET", "/usage?group_by=key")).body).toMatchObject({ data: [], total: 0, totals: NOTHING });
});

test.each([
  ["from=yesterday", "from"],
  ["from=2026-02-30", "from"],
  ["from=2026-01-01T00:00:00", "from"],
  ["to=0000-01-01", "to"],
  ["to=99999-01-01", "to"],
  ["from=2026-01-02&to=2026-01-01", "from"],
  ["group_by=hour", "group_by"],
  ["format=xml", "format"],
  ["from=a&from=b", "from"],
])("the usage report is refused for ?%s", async (query, param) =>
  expectRefusal(await people.owner("GET", `/usage?${query}`), 400, undefined, param),
);

test("a second reading of a document counts for the key that requested it, and the first for the key that uploaded it", async () => {
  const { owner, api, service } = people;
  const newKey = async (name: string) => (await owner("POST", "/keys", { name })).body;
  const [first, other] = [await newKey("First reader"), await newKey("Second reader")];
  const knowledge = (key: string) => clientOf({ ...service, chat: `${api}/v1/knowledge` }, key);
  const pages = async () => {
    const { data } = await usage("&group_by=key");
    return [first, other].map(({ id }) => data.find(({ key }: any) => key === id)?.pages ?? 0);
  };
  const form = fileForm("Words, read twice. ".repeat(200), "twice.md", { type: "text/markdown" });
  const { id } = (await knowledge(first.key)("POST", "/collections/shelf/documents", form)).body;
  await expect.poll(pages, soon).toEqual([2, 0]);
  // nothing is charged
  await expect
    .poll(async () => (await knowledge(other.key)("POST", `/documents/${id}/reprocess`)).status, soon)
    .toBe(202);
  await expect
    .poll(async () => (await knowledge(other.key)("POST", `/documents/${id}/reprocess?reextract=true`)).status, soon)
    .toBe(202);
  expect(await pages()).toEqual([2, 0]);
  await expect.poll(pages, soon).toEqual([2, 2]);
});

test("invalid token counts of a provider do not break the usage report", async () => {
  const { db, organization } = people.service;
  const credentials = await organization("Inventive");
  const most = Number.MAX_SAFE_INTEGER;
  await db.query(
    `insert into read.usage (source_id, part, generation, organization_id, at, turns, prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens, pages)
     select gen_random_uuid(), -1, 0, $1, now(), 1, $2, $2, $2, $2, 0 from generate_series(1, 3000)`,
    [credentials.organization_id, most],
  );
  const inventive = await people.signIn(credentials);
  for (const by of ["day", "key", "user", "model", "agent"]) {
    const { status, body } = await inventive("GET", `/usage?group_by=${by}`);
    expect([status, body.totals.turns, body.totals.prompt_tokens], by).toEqual([200, 3000, most]);
  }
});
