import { expect, test } from "vitest";
import { agentClient, signIn } from "../agents/agents.ts";
import { clientOf, say } from "../http/service.ts";
import { startPlatform } from "../platform.ts";

/* What callers say that a turn is for: `x-labels` (docs/spending.md). */

test("usage is grouped by a label of the requests, in chats and agents, as JSON and CSV", async () => {
  const platform = await startPlatform({});
  const { api_key, admin } = await platform.organization();
  const owner = (await signIn(platform.url, admin)).call;
  const chat = clientOf({ chat: `${platform.url}/api/openai/v1` }, api_key);
  const agent = (await owner("POST", "/agents", { name: "Helper", model: "offline/echo" })).body.id;
  const labelled = (labels: string) => chat("POST", "/chat/completions", say("Hi"), { "x-labels": labels });

  await labelled("team=search,release=7");
  const { body } = await labelled("team=search");
  await labelled("team=sales");
  await agentClient(platform.url, api_key, agent).post({ input: "Hi" }, { "x-labels": "team=search" });
  await chat("POST", "/chat/completions", say("Hi"));

  const usage = async (query: string) => (await owner("GET", `/usage?${query}`)).body;
  const turns = async (label: string) =>
    (await usage(`group_by=label&label=${label}`)).data.map((row: any) => [row.label, row.turns]);
  await expect
    .poll(async () => new Map(await turns("team")))
    .toEqual(
      new Map([
        ["search", 3],
        ["sales", 1],
        [null, 1],
      ]),
    );
  expect(new Map(await turns("release"))).toEqual(
    new Map([
      ["7", 1],
      [null, 4],
    ]),
  );
  expect(await turns("nothing")).toEqual([[null, 5]]);
  expect((await usage("group_by=label&label=team")).totals.turns).toBe(5);
  const csv = await owner("GET", "/usage?group_by=label&label=team&format=csv");
  expect(csv.text).toMatch(/^label,turns,/);
  expect(csv.text).toContain("search,3,");
  expect((await owner("GET", `/turns/${body.id}/trace`)).body.labels).toEqual({ team: "search" });
  const names = async (query = "") => (await owner("GET", `/usage/labels?${query}`)).body;
  expect(await names()).toMatchObject({
    data: [
      { label: "team", turns: 4 },
      { label: "release", turns: 1 },
    ],
    total: 2,
    offset: 0,
  });
  expect(await names("limit=1&offset=1")).toMatchObject({
    data: [{ label: "release" }],
    total: 2,
    limit: 1,
    offset: 1,
  });
  expect(await names("limit=1&offset=5")).toMatchObject({ data: [], total: 2 });
  expect(await names("from=2001-01-01&to=2001-02-01")).toMatchObject({ data: [], total: 0 });
  const day = await owner("GET", "/usage/labels?from=yesterday");
  expect([day.status, day.body.error.param]).toEqual([400, "from"]);
  const stranger = (await signIn(platform.url, (await platform.organization()).admin)).call;
  expect((await stranger("GET", "/usage/labels")).body).toMatchObject({ data: [], total: 0 });
  expect((await stranger("GET", "/usage?group_by=label&label=team")).body).toMatchObject({ data: [], total: 0 });

  const repeated = (labels: string) =>
    chat("POST", "/chat/completions", say("Again"), { "x-labels": labels, "idempotency-key": "again" });
  const first = await repeated("team=first");
  const again = await repeated("team=other");
  expect([again.status, again.body.id]).toEqual([200, first.body.id]);
  expect((await owner("GET", `/turns/${first.body.id}/trace`)).body.labels).toEqual({ team: "first" });
  expect(new Map(await turns("team")).get("first")).toBe(1);
  expect(new Map(await turns("team")).has("other")).toBe(false);

  const wrong = await labelled("team=ann@example.org");
  expect([wrong.status, wrong.body.error.param]).toEqual([400, "x-labels"]);
  expect(wrong.body.error.message).toContain("the value of team must be");
  const unnamed = await owner("GET", "/usage?group_by=label");
  expect([unnamed.status, unnamed.body.error.param]).toEqual([400, "label"]);
  const quoted = await owner("GET", `/usage?group_by=label&label=${encodeURIComponent("x'--")}`);
  expect([quoted.status, quoted.body.error.param]).toEqual([400, "label"]);
});
