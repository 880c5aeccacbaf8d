import { beforeAll, describe, expect, test, vi } from "vitest";
import { toolOf } from "../tools/desk.ts";
import { clientOf, say } from "../http/service.ts";
import { expectRefusal } from "../hostile/target.ts";
import { everything } from "./audit.ts";
import { openPeople, type People } from "./people.ts";

/* GET /api/usage (decisions: accounts): what was spent, equal to the sums over the log. */

let people: People;
let agent: string;
let second: { id: string; key: string };
let ada: { thread: string };
beforeAll(async () => {
  people = await openPeople();
  await people.service.organization("Others");
  await spend();
});

type Sums = Record<string, number>;
const usage = async (query = ""): Promise<any> => {
  const { status, body, text } = await people.owner("GET", `/usage?limit=500${query}`);
  if (status !== 200) throw new Error(text);
  return body;
};
const soon = { timeout: 20_000, interval: 100 };

/** A bit of everything that costs. */
async function spend(): Promise<void> {
  const { service, owner, api } = people;
  agent = (await owner("POST", "/agents", { name: "Helper", model: "offline/echo" })).body.id;
  second = (await owner("POST", "/keys", { name: "Second" })).body;
  const [first, other] = [clientOf(service, service.credentials.api_key), clientOf(service, second.key)];
  await first("POST", "/chat/completions", say("Nobody's"));
  const hers = await first("POST", "/chat/completions", say("Ada's", { user: "ada" }));
  ada = { thread: hers.headers.get("x-thread-id")! };
  await other("POST", "/chat/completions", say("Ada's too, by another key", { user: "ada" }));
  await people.define(toolOf("return 1"), { name: "own" });
  await people.obey(["/tool own {}", "/say done"], ["own"]);
  await other("POST", "/chat/completions", say("/say some words\n/cut", { model: "offline/scripted", stream: true }));
  await clientOf(
    service,
    (await people.login(service.credentials.admin.email, service.credentials.admin.password)).body.token,
  )("POST", "/chat/completions", say("A person's"));
  await clientOf({ chat: `${api}/agents/${agent}/v1` }, second.key)("POST", "/responses", { input: "To the agent" });
  const knowledge = clientOf({ chat: `${api}/v1/knowledge` }, second.key);
  await knowledge("POST", "/collections", { name: "Shelf" });
  const text = "Words. ".repeat(1_000);
  const { id } = (await knowledge("POST", "/collections/shelf/documents/text", { text, name: "a.md" })).body;
  await vi.waitFor(async () => expect((await knowledge("GET", `/documents/${id}`)).body.status).toBe("ready"), soon);
  const form = new FormData();
  form.append("file", new File([`${text} Extracted.`], "b.md", { type: "text/markdown" }));
  const extraction = (await clientOf({ chat: `${api}/v1` }, service.credentials.api_key)("POST", "/extractions", form))
    .body;
  const read = clientOf({ chat: `${api}/v1` }, service.credentials.api_key);
  await vi.waitFor(
    async () => expect((await read("GET", `/extractions/${extraction.id}`)).body.status).toBe("ready"),
    soon,
  );
}

const NOTHING: Sums = {
  turns: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  cached_tokens: 0,
  reasoning_tokens: 0,
  pages: 0,
};
const plus = (a: Sums, b: Sums): Sums =>
  Object.fromEntries(Object.keys(NOTHING).map((name) => [name, a[name]! + (b[name] ?? 0)]));

/** What the log itself says was spent, by a mark of each event. */
async function inLog(mark: (event: any, started: any) => string): Promise<Map<string, Sums>> {
  const events = await everything(people.owner);
  const sums = new Map<string, Sums>();
  const opened = new Map<string, any>();
  for (const event of events) {
    const { type, data } = event;
    const thing = data.turn_id ?? data.document_id ?? data.extraction_id;
    if (["TurnStarted", "DocumentUploaded", "ExtractionRequested"].includes(type)) opened.set(thing, event);
    const ends = ["TurnCompleted", "TurnFailed", "TurnStopped"].includes(type);
    if (!ends && !data.units) continue;
    const spent = ends
      ? { ...data.usage, turns: 1, total_tokens: data.usage.prompt_tokens + data.usage.completion_tokens }
      : { pages: data.units };
    const group = mark(event, opened.get(thing));
    sums.set(group, plus(sums.get(group) ?? NOTHING, spent));
  }
  return sums;
}

describe("equals the log", () => {
  const marks: [string, (row: any) => string, Parameters<typeof inLog>[0]][] = [
    ["day", ({ day }) => day, ({ recorded_at }) => recorded_at.slice(0, 10)],
    [
      "key",
      ({ key }) => String(key),
      (_, { principal }) => (principal.startsWith("key:") ? principal.slice(4) : "null"),
    ],
    ["model", ({ model }) => String(model), (_, { data }) => String(data.model ?? null)],
    ["agent", (row) => String(row.agent), (_, { data }) => String(data.agent?.agent_id ?? null)],
    [
      "user",
      ({ user, member }) => `${user} ${member}`,
      (_, { principal, personal }) =>
        `${personal.input?.prompt.user ?? null} ${principal.startsWith("person:") ? principal.slice(7) : null}`,
    ],
  ];

  test.each(marks)("by %s", async (by, ofRow, ofEvent) => {
    const { data, totals, total, group_by } = await usage(`&group_by=${by}`);
    expect([group_by, total]).toEqual([by, data.length]);
    const expected = await inLog(ofEvent);
    const found = new Map(data.map((row: any) => [ofRow(row), plus(NOTHING, row)]));
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
    expect([...expected.values()].reduce(plus)).toEqual(totals);
    expect(data.length).toBeGreaterThan(by === "day" ? 0 : 1);
  });

  test("and there was something of everything", async () => {
    const { totals } = await usage();
    expect(totals).toMatchObject({ turns: 7, pages: 6 });
    expect(totals.prompt_tokens * totals.completion_tokens).toBeGreaterThan(0);
  });
});

test("keys, agents and people are named while they are there", async () => {
  const named = async (by: string, id: string) =>
    (await usage(`&group_by=${by}`)).data.find((row: any) => row[by] === id || row.member === id);
  expect(await named("key", second.id)).toMatchObject({ name: "Second" });
  expect(await named("agent", agent)).toMatchObject({ name: "Helper", turns: 1 });
  const { id } = (await people.owner("GET", "/auth/me")).body.user;
  expect(await named("user", id)).toMatchObject({ user: null, name: "Administrator", turns: 1 });
  await people.owner("DELETE", `/agents/${agent}`);
  expect(await named("agent", agent)).toMatchObject({ name: null, turns: 1 });
});

test("what was spent stays when the words are deleted, and says no longer whose they were", async () => {
  const before = (await usage()).totals;
  const mine = clientOf(people.service, people.service.credentials.api_key);
  const ofAda = async () => (await usage("&group_by=user")).data.find(({ user }: any) => user === "ada")?.turns;
  expect(await ofAda()).toBe(2);
  expect((await mine("DELETE", `/threads/${ada.thread}?user=ada`)).status).toBe(200);
  expect(await ofAda()).toBe(1);
  expect((await usage()).totals).toEqual(before);
});

test("a time is taken from its first moment until before its last", async () => {
  const { rows } = await people.service.pool.query<{ at: Date }>("select at from read.usage order by at limit 1");
  const at = rows[0]!.at.toISOString();
  const after = new Date(rows[0]!.at.getTime() + 1).toISOString();
  expect(
    (await usage(`&from=${at}&to=${after}`)).totals.turns + (await usage(`&from=${at}&to=${after}`)).totals.pages,
  ).toBeGreaterThan(0);
  expect((await usage(`&from=2020-01-01&to=${at}`)).totals).toEqual(NOTHING);
  const today = at.slice(0, 10);
  expect(await usage(`&from=${today}`)).toMatchObject({ from: `${today}T00:00:00.000Z`, totals: { turns: 7 } });
  expect((await usage(`&to=${today}`)).totals).toEqual(NOTHING);
  const zoned = encodeURIComponent(at.replace("Z", "+00:00"));
  expect((await usage(`&to=${zoned}`)).totals).toEqual(NOTHING);
});

test("pages of groups add up to all of them", async () => {
  const all = (await usage("&group_by=key")).data;
  const one = async (offset: number) =>
    (await people.owner("GET", `/usage?group_by=key&limit=1&offset=${offset}`)).body;
  const found = await Promise.all(all.map((_: unknown, n: number) => one(n)));
  expect(found.flatMap(({ data }) => data)).toEqual(all);
  expect(await one(all.length)).toMatchObject({ data: [], total: all.length, limit: 1, offset: all.length });
});

test("another organization sees its own alone", async () => {
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
  ["from=a&from=b", "from"],
])("%s is refused", async (query, param) =>
  expectRefusal(await people.owner("GET", `/usage?${query}`), 400, undefined, param),
);
