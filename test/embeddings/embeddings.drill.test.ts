import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { DIMENSIONS, startSearchEndpoints, type Misbehaviour } from "../doubles/searchEndpoints.ts";
import { sendJson } from "../doubles/loopback.ts";
import { clientOf } from "../http/service.ts";
import { openLibrary } from "../knowledge/library.ts";

/* Search with an endpoint for embeddings and one for reranking, as a person configures them and a program searches. */

const endpoints = await startSearchEndpoints();
const library = await openLibrary({ PRIVATE_PROVIDER_HOSTS: "127.0.0.1" });
const account = clientOf({ chat: library.platform.url }, await library.signIn());
await library.collect("Handbook");
afterAll(() => endpoints.close());
beforeEach(() => endpoints.misbehave(undefined));

const configure = (name: string, more: object = {}) =>
  account("PUT", `/api/providers/${name}`, { api_key: "sk-e", base_url: endpoints.url, model: "m", ...more });
const status = async () => (await account("GET", "/api/embeddings")).body;
const keep = async (name: string, text: string, more: object = {}): Promise<string> => {
  const { body } = await library.push("handbook", { text, name, ...more });
  expect((await library.ended(body.id)).status).toBe("ready");
  return body.id;
};
const embedded = async () => {
  for (let n = 0; n < 600; n++, await sleep(100)) {
    const now = await status();
    if (now.documents > 0 && now.embedded === now.documents) return now;
  }
  throw new Error(`not embedded: ${JSON.stringify(await status())}`);
};
const search = async (body: object) => {
  const answer = await library.search(body);
  expect([answer.status, answer.body.error]).toEqual([200, undefined]);
  return { ...answer.body, headers: answer.headers };
};
const names = ({ results }: any): string[] => results.map(({ document }: any) => document.name);
/** The index follows the log. */
const eventually = async (check: () => Promise<void>): Promise<void> => {
  for (let n = 0; ; n++)
    try {
      return await check();
    } catch (error) {
      if (n > 300) throw error;
      await sleep(100);
    }
};

test("search uses words alone without an endpoint, and incompatible settings are refused by name", async () => {
  await keep("garage", "An automobile must be parked in the garage.", { tags: ["traffic"] });
  await keep("pay", "Remuneration is transferred at the end of the month.");
  await keep("food", "The canteen serves soup and bread at noon.");
  expect(names(await search({ query: "car" }))).toEqual([]);
  expect(await status()).toMatchObject({ model: null, documents: 3, embedded: 0, fault: null });
  const refused = async (name: string, body: object) => (await configure(name, body)).body.error?.param;
  expect(await refused("embeddings", {})).toBe("dimensions");
  expect(await refused("embeddings", { dimensions: 5_000 })).toBe("dimensions");
  expect(await refused("embeddings", { dimensions: 8, model: null })).toBe("model");
  expect(await refused("reranking", { dimensions: 8 })).toBe("dimensions");
  expect(await refused("other", {})).toBe("model");
  expect(endpoints.requests).toEqual([]);
});

test("an endpoint finds a passage that shares no word with the query, within filters, readers and operators", async () => {
  const { status: code, body } = await configure("embeddings", { dimensions: DIMENSIONS });
  expect([code, body.model, body.dimensions, body.format]).toEqual([200, "m", DIMENSIONS, null]);
  expect(JSON.stringify(body)).not.toContain("sk-e");
  await embedded();
  expect(endpoints.requests[0]!.headers.authorization).toBe("Bearer sk-e");
  await eventually(async () => expect(names(await search({ query: "car" }))[0]).toBe("garage"));
  const found = await search({ query: "car", highlights: true, group_by: "document" });
  expect(names(found)[0]).toBe("garage");
  expect(found.degraded).toBeUndefined();
  expect(names(await search({ query: "car", tags: ["other"] }))).toEqual([]);
  expect(names(await search({ query: "car", tags: ["traffic"] }))).toEqual(["garage"]);
  expect(names(await search({ query: 'car -"the garage"' }))).not.toContain("garage");
  expect(names(await search({ query: 'car "must be parked"' }))).toEqual(["garage"]);
  expect(names(await search({ query: "soup and bread" }))[0]).toBe("food");
  const whole = names(await search({ query: "salary at noon" }));
  const pages = await Promise.all([0, 1, 2].map((offset) => search({ query: "salary at noon", limit: 1, offset })));
  expect(pages.flatMap(names)).toEqual(whole);
});

test("a document that names its readers is found by them only", async () => {
  const id = await keep("private", "The physician visits the office in May.");
  await embedded();
  await eventually(async () => expect(names(await search({ query: "doctor" }))).toContain("private"));
  await library.call("PATCH", `/documents/${id}`, { readers: [{ external_user: "ann" }] });
  expect(names(await search({ query: "doctor" }))).not.toContain("private");
  expect(names(await search({ query: "doctor", user: "ann" }))[0]).toBe("private");
});

test("a text is embedded and paid for only once: a reprocess, a metadata change or the same text sends nothing", async () => {
  const id = await keep("twice", "A vacation is asked for two weeks before it starts.", { external_id: "twice" });
  await embedded();
  const sent = endpoints.embedded().length;
  await library.call("POST", `/documents/${id}/reprocess`, {});
  expect((await library.ended(id)).status).toBe("ready");
  await library.call("PATCH", `/documents/${id}`, { metadata: { year: 2026 } });
  await embedded();
  expect(endpoints.embedded()).toHaveLength(sent);
  await eventually(async () =>
    expect(names(await search({ query: "holiday", filter: { metadata: { year: 2026 } } }))).toEqual(["twice"]),
  );
  const usage = await account("GET", "/api/usage?group_by=model");
  const row = usage.body.data.find(({ key, model }: any) => (key ?? model) === "embeddings/m");
  expect(row?.prompt_tokens ?? row).toBeGreaterThanOrEqual(50);
});

test("the word search answers while a new embedding model replaces all vectors, and a deleted document is not found", async () => {
  await configure("embeddings", { dimensions: DIMENSIONS, model: "n" });
  expect(names(await search({ query: "canteen" }))[0]).toBe("food");
  const { model } = await embedded();
  expect(model).toBe("n");
  await eventually(async () => expect(names(await search({ query: "holiday" }))[0]).toBe("twice"));
  const { results } = await search({ query: "holiday" });
  await library.call("DELETE", `/documents/${results[0].document.id}`);
  expect(names(await search({ query: "holiday" }))).not.toContain("twice");
});

const answering =
  (json: unknown, code = 200): Misbehaviour =>
  (response) =>
    sendJson(response, code, json);
const vector = (numbers: unknown[]) => answering({ data: [{ index: 0, embedding: numbers }] });
const FAULTS: [string, Misbehaviour, RegExp][] = [
  ["wrong dimensions", vector([1, 2, 3]), /3 numbers instead of 256/],
  ["numbers that are none", vector(Array(DIMENSIONS).fill(null)), /not a list of embeddings/],
  ["no direction", vector(Array(DIMENSIONS).fill(0)), /without a direction/],
  ["a wrong count", answering({ data: [] }), /0 vectors for 1 texts/],
  ["no JSON", (response) => void response.end("<html>"), /JSON/],
  ["429", (response) => void response.writeHead(429, { "retry-after": "1" }).end("{}"), /429/],
  ["500", answering({}, 500), /500/],
  ["a huge answer", (response) => void response.end("x".repeat(3_000_000)), /larger/],
  ["a cut connection", (response) => void response.destroy(), /reached/],
  ["silence", (response) => void response.writeHead(200).write("{"), /longer than 1.5 seconds/],
  [
    "a redirect to a private address",
    (response) => void response.writeHead(307, { location: "http://10.0.0.1/" }).end(),
    /refused/,
  ],
];

describe("search uses words and reports it if the endpoint gives", () => {
  test.each(FAULTS)("%s", async (name, misbehaviour, message) => {
    // each has a space, and so a circuit, of its own
    await configure("embeddings", { dimensions: DIMENSIONS, model: `for ${name}` });
    endpoints.misbehave(misbehaviour);
    const startedAt = performance.now();
    const found = await search({ query: `canteen ${name}` });
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect(names(found)[0]).toBe("food");
    expect(found.degraded).toEqual([{ part: "embeddings", message: expect.stringMatching(message) }]);
    expect(found.headers.get("x-svc-search-degraded")).toBe("embeddings");
  });
});

test("documents become ready while the endpoint fails, the status gives the reason, and the vectors follow later", async () => {
  await configure("embeddings", { dimensions: DIMENSIONS, model: "later" });
  endpoints.misbehave(answering({}, 503));
  await keep("late", "Every physician washes both hands.");
  await eventually(async () => expect((await status()).fault?.message).toMatch(/503/));
  expect(names(await search({ query: "hands" }))[0]).toBe("late");
  endpoints.misbehave(undefined);
  expect(await embedded()).toMatchObject({ fault: null });
});

test("reranking orders the first hits, and the word ranking does if reranking fails", async () => {
  await configure("reranking");
  await keep("long", `${"The bicycle shed is open all day, also at night. ".repeat(6)}`);
  await keep("short", "The bicycle shed.");
  await embedded();
  await eventually(async () => {
    const found = await search({ query: "bicycle shed" });
    expect(found.degraded).toBeUndefined();
    expect(names(found)[0]).toBe("short");
    const scores = found.results.flatMap(({ passages }: any) => passages.map(({ score }: any) => score));
    expect(scores).toEqual(scores.toSorted((a: number, b: number) => b - a));
  });
  endpoints.misbehave((response, { path }) =>
    sendJson(response, 200, path.endsWith("/rerank") ? { results: [{ index: 99, relevance_score: 1 }] } : {}),
  );
  const found = await search({ query: "bicycle shed" });
  expect(names(found)).toContain("long");
  expect(found.degraded).toContainEqual({ part: "reranking", message: expect.stringMatching(/not asked about/) });
});

test("a used-up budget of a project leaves the documents of its keys without vectors, and the status names it", async () => {
  await configure("embeddings", { dimensions: DIMENSIONS, model: "budgeted" });
  const { body: project } = await account("POST", "/api/projects", { name: "Spent" });
  const { body: key } = await account("POST", "/api/keys", { name: "Of the project", project_id: project.id });
  const budget = `/api/budgets/project:${project.id}`;
  expect((await account("PUT", budget, { tokens_per_day: 0 })).status).toBe(200);
  await library.as(key.key).pushed("handbook", { name: "unpaid", text: "The archive is closed in August." });
  await eventually(async () => {
    const { documents, embedded: done, fault } = await status();
    expect([documents - done, fault?.message]).toEqual([1, expect.stringContaining(`project:${project.id} has used`)]);
  });
  expect((await account("DELETE", budget)).status).toBe(204);
  expect(await embedded()).toMatchObject({ fault: null });
});
