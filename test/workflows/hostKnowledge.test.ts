import { afterAll, describe, expect, test } from "vitest";
import { toolSource } from "../tools/desk.ts";
import { openSite } from "../tools/site.ts";
import { expectRefused, openStepAttempts, failureOf } from "./stepAttempts.ts";

/* Documents and tools that a step may use, within the envelope. */

/** Never answers. */
const silent = await openSite(() => {});
const platform = await openStepAttempts({ PRIVATE_FETCH_HOSTS: silent.host });
const mine = await platform.organization();
const stranger = await platform.organization("Stranger");
const keep = async ({ knowledge }: typeof mine, name: string, text: string, tags: string[] = []) => {
  const slug = await knowledge.collect(name);
  const { body } = await knowledge.push(slug, { text, name: `${slug}.md`, format: "markdown", tags });
  return knowledge.ended(body.id);
};
const rules: { id: string } = await keep(mine, "House Rules", "# Noise\n\nThe saw of the workshop is off at night.\n", [
  "house",
]);
const wages: { id: string } = await keep(mine, "Wages", "# Bonus\n\nThe workshop pays a bonus in May.\n");
const foreign: { id: string } = await keep(stranger, "Foreign", "# Far\n\nThe workshop of others.\n");
afterAll(async () => {
  silent.close();
});

const documentsOf = ({ results }: any): string[] => results.map((hit: any) => hit.document_id).toSorted();
const both = () => [rules.id, wages.id].toSorted();

describe("search", () => {
  test("finds passages like the tool", async () => {
    const { call } = (await mine.run()).attempt();
    const { results } = await call("search", { query: "saw at night" });
    expect(results[0]).toEqual({
      document_id: rules.id,
      document: "house-rules.md",
      collection: "House Rules",
      version: 1,
      seq: 0,
      start: 0,
      end: expect.any(Number),
      section: "Noise",
      reference: "Noise",
      url: `${platform.platform.settings.BASE_URL}/api/v1/knowledge/documents/${rules.id}/text?version=1#seq=0`,
      content: expect.stringContaining("off at night"),
    });
    const all = await call("search", { query: "workshop" });
    expect(documentsOf(all)).toEqual(both());
    expect(await call("tool", { name: "search_documents", args: { query: "workshop" } })).toEqual(all);
    expect((await call("search", { query: "workshop", limit: 1 })).results).toHaveLength(1);
    expect(documentsOf(await call("search", { query: "workshop", tags: ["house"] }))).toEqual([rules.id]);
    expect(documentsOf(await call("search", { query: "workshop", collections: ["Wages"] }))).toEqual([wages.id]);
  });

  test("stays within the envelope, from the next call on", async () => {
    const { attempt, edit } = await mine.run({ collections: ["house-rules"] });
    const { call } = attempt();
    const search = (more: object = {}) => call("search", { query: "workshop", ...more });
    expect(documentsOf(await search())).toEqual([rules.id]);
    expect(documentsOf(await search({ collections: ["House Rules"] }))).toEqual([rules.id]);
    const inTool = { name: "search_documents", args: { query: "workshop" } };
    expect(documentsOf(await call("tool", inTool))).toEqual([rules.id]);
    await expectRefused(
      search({ collections: ["wages"] }),
      "collection_not_allowed",
      "search: collections: the collection wages is not in the workflow's envelope.collections",
    );
    const told = await failureOf(call("tool", { ...inTool, args: { query: "workshop", collections: ["wages"] } }));
    expect(told.message).toBe("tool search_documents: collections must be among house-rules.");
    await edit({ collections: ["wages", "gone"] });
    expect(documentsOf(await search())).toEqual([wages.id]);
    await edit({ collections: [] });
    expect(documentsOf(await search())).toEqual([]);
    expect(documentsOf(await call("tool", inTool))).toEqual([]);
    await edit({ collections: null });
    expect(documentsOf(await search())).toEqual(both());
  });

  test("finds no collection of another organization", async () => {
    const { call } = (await mine.run()).attempt();
    const unknown = await failureOf(call("search", { query: "far", collections: ["nowhere"] }));
    expect(unknown).toMatchObject({ code: "step_error", final: true });
    const message = unknown.message.replace("nowhere", "foreign");
    await expectRefused(call("search", { query: "far", collections: ["foreign"] }), "step_error", message);
    expect(await call("search", { query: "others far" })).toEqual({
      results: expect.not.arrayContaining([expect.objectContaining({ document_id: foreign.id })]),
    });
  });

  test("finds a collection that was just created", async () => {
    const slug = await mine.knowledge.collect("Brand New");
    const { call } = (await mine.run({ collections: [slug] })).attempt();
    expect(await call("search", { query: "workshop", collections: [slug] })).toEqual({ results: [] });
  });
});

describe("read", () => {
  test("returns a document like the tool", async () => {
    const { call } = (await mine.run()).attempt();
    const read = await call("read", { document_id: rules.id });
    expect(read).toEqual({
      document_id: rules.id,
      document: "house-rules.md",
      text: expect.stringContaining("off at night"),
      next_seq: null,
    });
    expect(await call("tool", { name: "read_document", args: { document_id: rules.id } })).toEqual(read);
    expect((await failureOf(call("read", { document_id: rules.id, from_seq: 50 }))).message).toContain("from_seq 50");
  });

  test("returns none outside the envelope or of another organization", async () => {
    const { attempt, edit } = await mine.run({ collections: ["house-rules"] });
    const { call } = attempt();
    expect((await call("read", { document_id: rules.id })).document).toBe("house-rules.md");
    const unknown = await failureOf(call("read", { document_id: "0198f000-0000-7000-8000-000000000000" }));
    for (const { id } of [wages, foreign]) {
      expect((await failureOf(call("read", { document_id: id }))).message).toBe(unknown.message);
      const inTool = call("tool", { name: "read_document", args: { document_id: id } });
      expect((await failureOf(inTool)).message).toBe(unknown.message.replace("read:", "tool read_document:"));
    }
    await edit({ collections: null });
    expect((await call("read", { document_id: wages.id })).document).toBe("wages.md");
    expect((await failureOf(call("read", { document_id: foreign.id }))).message).toBe(unknown.message);
  });
});

test("models of a chat and agents search within the envelope", async () => {
  const agent_id = await mine.agent({ model: "offline/extractive", tools: ["search_documents"] });
  const own = await mine.agent({ model: "offline/extractive", tools: ["search_documents"], collections: ["wages"] });
  const { attempt, edit } = await mine.run({ collections: ["house-rules"] });
  const { call } = attempt();
  const chat = (collections?: string[]) =>
    call("chat", {
      model: "offline/extractive",
      messages: [{ role: "user", content: "What does the workshop say?" }],
      tools: ["search_documents"],
      ...(collections && { knowledge: { collections } }),
    });
  const ask = async (id: string) =>
    (await call("agent", { agent_id: id, input: "What does the workshop say?" })).output_text;
  expect((await chat()).content).toContain("off at night");
  expect((await chat()).content).not.toContain("bonus");
  expect((await chat([])).content).not.toMatch(/bonus|night/);
  expect(await ask(agent_id)).not.toContain("bonus");
  expect(await ask(own)).not.toMatch(/bonus|night/);
  await expectRefused(chat(["wages"]), "collection_not_allowed", "chat: knowledge.collections: the collection wages");
  await edit({ collections: null });
  expect((await chat(["wages"])).content).toContain("bonus");
  expect(await ask(own)).toContain("bonus");
});

describe("a tool of the organization", () => {
  test("is called with arguments, and returns a value", async () => {
    await mine.tool("stock", toolSource("return { args, user: meta.user, thread: meta.thread_id, vars: meta.vars };"));
    const { run_id, attempt } = await mine.run();
    const { call } = attempt();
    const args = { sku: "A-1", list: [1, null, "ü\u0000"] };
    expect(await call("tool", { name: "stock", args })).toEqual({ args, user: null, thread: run_id, vars: {} });
    expect(await call("tool", { name: "stock" })).toMatchObject({ args: {} });
  });

  test("that fails may succeed in the next attempt", async () => {
    await mine.tool("failing", toolSource("throw new RangeError('no such article')"));
    const { call } = (await mine.run()).attempt();
    expect(await failureOf(call("tool", { name: "failing" }))).toMatchObject({
      code: "step_error",
      final: false,
      message: "tool failing: RangeError: no such article (line 3, column 11)",
    });
    expect((await failureOf(call("tool", { name: "search_documents", args: {} }))).message).toContain("query: ");
  });

  test("must be allowed by the envelope", async () => {
    await mine.tool("allowed", toolSource("return 1"));
    const { attempt, edit } = await mine.run({ tools: ["allowed"] });
    const { call } = attempt();
    expect(await call("tool", { name: "allowed" })).toBe(1);
    await expectRefused(call("tool", { name: "search_documents" }), "tool_not_allowed", "search_documents is not in");
    await edit({ tools: [] });
    await expectRefused(call("tool", { name: "allowed" }), "tool_not_allowed", "envelope.tools");
  });

  test("of another organization is not found", async () => {
    const stranger = await platform.organization("Toolmaker");
    await stranger.tool("theirs", toolSource("return 1"));
    const { call } = (await mine.run()).attempt();
    for (const name of ["theirs", "nobodys"])
      await expectRefused(call("tool", { name }), "step_error", `tool ${name}: there is no such tool`);
  });

  test("is not found while an owner has switched the organization's tools off, neither for a call nor for a prompt", async () => {
    const theirs = await platform.organization("Careful");
    await theirs.tool("own", toolSource("return 1"));
    const { call } = (await theirs.run()).attempt();
    const ask = () =>
      call("chat", { model: "offline/scripted", messages: [{ role: "user", content: "/say On." }], tools: ["own"] });
    expect(await call("tool", { name: "own" })).toBe(1);
    expect((await theirs.owner("PUT", "/tools/scripted", { enabled: false })).status).toBe(200);
    await expectRefused(call("tool", { name: "own" }), "step_error", "tool own: there is no such tool");
    await expectRefused(ask(), "step_error", 'chat: tools: there is no tool "own"');
    expect(await call("tool", { name: "search_documents", args: { query: "wages" } })).toHaveProperty("results");
    expect((await theirs.owner("PUT", "/tools/scripted", { enabled: true })).status).toBe(200);
    expect(await call("tool", { name: "own" })).toBe(1);
    expect((await ask()).content).toBe("On.");
  });

  test("is stopped with the step", async () => {
    await mine.tool("waiting", toolSource(`return await fetch("${silent.url}")`));
    const { call } = (await mine.run()).attempt();
    const cut = new AbortController();
    const waiting = call("tool", { name: "waiting" }, cut.signal);
    await expect.poll(() => silent.paths).toEqual(["/"]);
    cut.abort(new Error("the step's time is over"));
    await expect(waiting).rejects.toThrow("the step's time is over");
  });
});

test.each([
  ["search", {}, "search: query: "],
  ["search", { query: " " }, "search: query: must not be empty"],
  ["search", { query: "a", limit: 0 }, "search: limit: "],
  ["search", { query: "a", colections: ["wages"] }, "colections"],
  ["read", { document_id: 5 }, "read: document_id: "],
  ["read", { document_id: "a", from_seq: -1 }, "read: from_seq: "],
  ["tool", { args: {} }, "tool: name: "],
  ["tool", { name: "stock", args: [] }, "tool: args: "],
  ["tool", "stock", "tool: "],
] as const)("%s with %j is reported at once", async (what, input, message) => {
  const { call } = (await mine.run()).attempt();
  await expectRefused(call(what, input), "step_error", message);
});
