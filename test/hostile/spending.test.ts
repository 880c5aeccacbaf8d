import { describe, expect, test } from "vitest";
import { openPeople } from "../accounts/people.ts";
import { ask, openSpender, SCRIPTED } from "../accounts/spender.ts";
import { clientOf, say } from "../http/service.ts";
import { expectRefusal } from "./target.ts";

/* A tenant that attacks limits, budgets, prices and aliases over HTTP. */

const people = await openPeople();

const SLOW = { ...say("/slow 3\nHi"), model: SCRIPTED };

test("forty concurrent requests pass a limit of ten exactly ten times, buffered and streamed", async () => {
  const { set, limit, first } = await openSpender(people);
  await set("organization", { requests_per_minute: 10 });
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, n) => ask(first, { user: `u${n}`, stream: n % 2 === 0 })),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
  for (const refused of answers.filter(({ status }) => status !== 200)) {
    expectRefusal(refused, 429, "rate_limited");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  }
  expect(await limit()).toMatchObject({ limit: "10", spent: "10" });
});

test("a stream that its client cuts leaves no money reserved, and its cost counts", async () => {
  const { set, limit, credentials } = await openSpender(people);
  await set("organization", { cost_per_day: "2" });
  const cut = new AbortController();
  const streamed = fetch(`${people.service.chat}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${credentials.api_key}`, "content-type": "application/json" },
    body: JSON.stringify({ ...SLOW, stream: true }),
    signal: cut.signal,
  });
  await expect.poll(() => limit()).toMatchObject({ reserved: "1" });
  cut.abort();
  await streamed.catch(() => {});
  await expect.poll(() => limit(), { timeout: 20_000 }).toMatchObject({ spent: "1", reserved: "0" });
});

test("a key that is deleted while it holds a reservation releases it, and its spending stays in the project's", async () => {
  const { set, limit, owner } = await openSpender(people);
  const { id: project } = (await owner("POST", "/projects", { name: "Venture" })).body;
  const { id, key } = (await owner("POST", "/keys", { name: "Doomed", project_id: project })).body;
  await set(`project:${project}`, { cost_per_day: "2" });
  const running = clientOf(people.service, key)("POST", "/chat/completions", SLOW);
  await expect.poll(async () => (await limit(`project:${project}`)).reserved).toBe("1");
  expect((await owner("DELETE", `/keys/${id}`)).status).toBe(204);
  await running;
  await expect
    .poll(() => limit(`project:${project}`), { timeout: 20_000 })
    .toMatchObject({ spent: "1", reserved: "0" });
});

describe("a refusal names the field of", () => {
  const put = async (path: string, body: object) => (await openSpender(people)).owner("PUT", path, body);
  test.each([
    ["a negative limit", { requests_per_minute: -1 }, "requests_per_minute"],
    ["a limit beyond what JSON can count", { tokens_per_day: 1e300 }, "tokens_per_day"],
    ["a half", { concurrent_turns: 0.5 }, "concurrent_turns"],
    ["a negative amount", { cost_per_day: "-1" }, "cost_per_day"],
    ["an amount of ten digits", { cost_per_day: "1000000000" }, "cost_per_day"],
    ["an amount in another notation", { cost_per_month: "1e3" }, "cost_per_month"],
    ["no amount", { cost_per_month: "NaN" }, "cost_per_month"],
  ])("a budget with %s", async (_, body, param) =>
    expectRefusal(await put("/budgets/organization", body), 400, undefined, param),
  );
  test.each([
    ["itself", [{ model: "loop" }], "targets[0].model"],
    ["another alias", [{ model: "offline/echo" }, { model: "other" }], "targets[1].model"],
    ["a model twice", [{ model: "offline/echo" }, { model: "offline/echo" }], "targets[1].model"],
    ["a negative weight", [{ model: "offline/echo", weight: -1 }], "targets[0].weight"],
  ])("an alias that names %s", async (_, targets, param) =>
    expectRefusal(await put("/aliases/loop", { targets }), 400, undefined, param),
  );
  test("a negative number of tokens, which would lower the estimate", async () => {
    const { first } = await openSpender(people);
    expectRefusal(await ask(first, { max_tokens: -1_000_000 }), 400, undefined, "max_tokens");
  });
});

test("a budget also applies if its subject is sent in capital letters", async () => {
  const { set, limit, owner, first } = await openSpender(people);
  const [{ id }] = (await owner("GET", "/keys")).body.data;
  expect((await set(`key:${id.toUpperCase()}`, { requests_per_minute: 1 })).body.subject).toBe(`key:${id}`);
  expect((await ask(first)).status).toBe(200);
  expectRefusal(await ask(first), 429, "rate_limited");
  expect(await limit(`key:${id}`)).toMatchObject({ spent: "1" });
});
