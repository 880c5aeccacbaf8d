import { expect, test } from "vitest";
import { openTwoTenants } from "../accounts/tenants.ts";
import { ALONE, openPlatform } from "../sharedPlatform.ts";
import { isOver, workflowSource } from "../workflows/tenant.ts";

/* The size of an answer is limited, and the memory of answers in progress counts. */

const PAGE_BYTES = 2_000_000;
const { platform } = await openPlatform(ALONE);
const { home } = await openTwoTenants(platform);

const long = (n: number): string => `${n} `.padEnd(100_000, "x");

/** Reads a list page after page, each from where the one before ended. */
async function readAll(path: string): Promise<{ rows: any[]; sizes: number[]; total: number }> {
  const rows: any[] = [];
  const sizes: number[] = [];
  for (;;) {
    const { status, body, text } = await home.owner("GET", `${path}?limit=500&offset=${rows.length}`);
    expect(status, text).toBe(200);
    expect(body.limit).toBe(rows.length + body.data.length < body.total ? body.data.length : 500);
    sizes.push(text.length);
    rows.push(...body.data);
    if (rows.length >= body.total) return { rows, sizes, total: body.total };
  }
}

test("long rows make the pages of a list shorter, and all pages together contain every row once", async () => {
  const names = Array.from({ length: 25 }, (_, n) => `long ${n}`);
  for (const [n, name] of names.entries())
    await home.made(home.owner("POST", "/agents", { name, model: "offline/echo", instructions: long(n) }));
  const { rows, sizes } = await readAll("/agents");
  expect(sizes.length).toBeGreaterThan(1);
  expect(Math.max(...sizes)).toBeLessThan(1.1 * PAGE_BYTES);
  expect(rows.map(({ name }) => name).filter((name) => name.startsWith("long "))).toEqual(names);
});

test("long versions of an agent make its pages shorter", async () => {
  const { id } = await home.made(home.owner("POST", "/agents", { name: "Much", model: "offline/echo" }));
  for (let n = 0; n < 25; n++) await home.made(home.owner("PATCH", `/agents/${id}`, { instructions: long(n) }));
  const { rows, sizes, total } = await readAll(`/agents/${id}/versions`);
  expect(total).toBe(26);
  expect(rows.map(({ version }) => version)).toEqual(Array.from({ length: 26 }, (_, n) => 26 - n));
  expect(rows[0].settings.instructions).toBe(long(24));
  expect(sizes.length).toBeGreaterThan(1);
  expect(Math.max(...sizes)).toBeLessThan(1.1 * PAGE_BYTES);
});

test("the trace of a turn in a long thread shows the newest earlier turns, and counts the older ones", async () => {
  const say = (text: string, headers = {}) =>
    home.key(
      "POST",
      "/openai/v1/chat/completions",
      { model: "offline/echo", max_tokens: 5, messages: [{ role: "user", content: text }] },
      headers,
    );
  const first = await say("first");
  const thread = { "x-thread-id": first.headers.get("x-thread-id")! };
  for (let n = 0; n < 7; n++) expect((await say(`${n} `.padEnd(400_000, "y"), thread)).status).toBe(200);
  const { body, text } = await say("last", thread);
  expect(body.id, text).toBeDefined();
  const trace = await home.owner("GET", `/turns/${body.id}/trace`);
  expect(trace.status, trace.text).toBe(200);
  expect(trace.text.length).toBeLessThan(1.1 * PAGE_BYTES);
  const { messages, turns_not_shown } = trace.body.prompt;
  const asked = messages.filter(({ role }: any) => role === "user").map((message: any) => message.text.split(" ")[0]);
  expect(asked.slice(-3)).toEqual(["5", "6", "last"]);
  expect(asked.length - 1 + turns_not_shown).toBe(8);
  expect(turns_not_shown).toBeGreaterThan(2);
});

test("memory for reading long runs counts for the organization, which gets a 429 above its share", async () => {
  const steps = `long: ({ n }) => n + "z".repeat(900_000)`;
  const source = workflowSource(`for (let n = 0; n < 12; n++) await ctx.runStep("long", { n }); return 1;`, steps);
  const run = await home.start(await home.register(source));
  const path = `/workflows/runs/${run}`;
  let record;
  do record = await home.made(home.owner("GET", `${path}?steps=false&wait=60`));
  while (!isOver(record));
  expect(record).toMatchObject({ status: "completed" });
  const answers = await Promise.all(Array.from({ length: 12 }, () => home.owner("GET", path)));
  const statuses = answers.map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  const refused = answers.find(({ status }) => status === 429);
  expect(refused?.body.error.code).toBe("too_many_bytes");
  const { body } = await home.owner("GET", path);
  expect(body.steps.map(({ result }: any) => result.length)).toEqual(
    Array.from({ length: 12 }, (_, n) => 900_000 + `${n}`.length),
  );
});
