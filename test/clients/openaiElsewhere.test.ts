import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { startAgents } from "../agents/agents.ts";

const agents = await startAgents();
const agent_base = (await agents.open({ model: "openai/gpt-test" })).base;

const open = (baseURL = agents.base_url) => new OpenAI({ apiKey: agents.api_key, baseURL, maxRetries: 0 });
const model = "openai/gpt-test";
const completion = (content: string) => ({ model, messages: [{ role: "user" as const, content }] });

/** The error of a 404 that comes from no route. */
async function missing(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => expect.unreachable("it should have failed"),
    (failure: unknown) => failure as InstanceType<typeof OpenAI.NotFoundError>,
  );
  expect(error).toBeInstanceOf(OpenAI.NotFoundError);
  expect(error.code).toBe("not_found");
  return error.message;
}

const SERVED = /serves chat\/completions, models and files/;
type Ask = (client: OpenAI) => Promise<unknown>;

describe("APIs that the service does not have, or has at another address, say so", () => {
  test.each<[string, Ask, RegExp]>([
    ["responses", (client) => client.responses.create({ model, input: "x" }), /api\/agents\/\{agent_id\}\/v1/],
    ["embeddings", (client) => client.embeddings.create({ model, input: "x" }), /api\/v1\/knowledge/],
    ["conversations", (client) => client.conversations.create({}), /x-thread-id/],
    [
      "uploads",
      (client) => client.uploads.create({ bytes: 1, filename: "a", mime_type: "a/b", purpose: "user_data" }),
      /openai\/v1\/files/,
    ],
    ["completions", (client) => client.completions.create({ model, prompt: "x" }), /openai\/v1\/chat\/completions/],
    ["moderations", (client) => client.moderations.create({ input: "x" }), SERVED],
    [
      "speech",
      (client) => client.audio.speech.create({ model, input: "x", voice: "alloy" }),
      /Speech is not available/,
    ],
    ["vector stores", (client) => client.vectorStores.create({ name: "x" }), /api\/v1\/knowledge\/collections/],
    ["assistants", (client) => client.beta.assistants.create({ model }), /api\/agents\/\{agent_id\}\/v1\/responses/],
    ["batches", (client) => client.batches.list(), /Batches are not available/],
    ["images", (client) => client.images.generate({ model, prompt: "x" }), SERVED],
    ["stored completions", (client) => client.chat.completions.list(), SERVED],
    ["the base address itself", (client) => client.get("/"), SERVED],
    ["deleting a model", (client) => client.models.delete(model), SERVED],
  ])("%s", async (_, ask, message) => {
    const said = await missing(ask(open()));
    expect(said).toMatch(message);
    expect(said, "the client has this address already").not.toContain("base address");
  });

  test.each<[string, Ask, RegExp]>([
    ["chat completions", (client) => client.chat.completions.create(completion("x")), /\/api\/openai\/v1\/chat/],
    ["conversations", (client) => client.conversations.create({}), /previous_response_id/],
    ["files", (client) => client.files.list(), /api\/openai\/v1\/files/],
    ["embeddings", (client) => client.embeddings.create({ model, input: "x" }), /api\/v1\/knowledge/],
    ["counting tokens", (client) => client.responses.inputTokens.count({ model, input: "x" }), /responses and models/],
    ["the base address itself", (client) => client.get("/"), /responses and models/],
  ])("for an agent: %s", async (_, ask, message) => {
    const said = await missing(ask(open(agent_base)));
    expect(said).toMatch(message);
    expect(said).not.toContain("base address");
  });

  test.each(["", "/v1", "/api/openai", "/api/v1", "/api/openai/v1/v1"])(
    "a base address that ends in %j gets a hint to the right one",
    async (path) => {
      const client = open(agents.base_url.replace("/api/openai/v1", path));
      expect(await missing(client.chat.completions.create(completion("x")))).toContain("/api/openai/v1 for chat");
    },
  );

  test("Azure's client gets a hint to the right base address", async () => {
    const client = new OpenAI({ apiKey: agents.api_key, baseURL: `${agents.base_url}/deployments/gpt-test` });
    expect(await missing(client.chat.completions.create(completion("x")))).toContain("Azure");
  });
});

describe("doubled or added slashes in a path", () => {
  const at = async (path: string, body?: object) => {
    const headers = { authorization: `Bearer ${agents.api_key}`, "content-type": "application/json" };
    const init = body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers };
    const answer = await fetch(agents.url + path, init);
    return { status: answer.status, body: (await answer.json()) as any };
  };

  test.each([
    "/api/openai/v1//chat/completions",
    "/api/openai/v1/chat/completions/",
    "//api/openai/v1/chat/completions",
  ])("%s completes", async (path) => {
    const { status, body } = await at(path, completion("Hello"));
    expect([status, body.choices?.[0].message.content]).toEqual([200, "Hello"]);
  });

  test("lists and agents too", async () => {
    expect((await at("/api/openai/v1//models/")).body.object).toBe("list");
    const path = new URL(agent_base).pathname;
    expect((await at(`${path}//responses`, { input: "Hello" })).body.status).toBe("completed");
  });
});
