import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { beforeEach, describe, expect, test } from "vitest";
import { agentClient, makeTool, signIn, TOOL } from "../agents/agents.ts";
import { chunksOf, clientOf } from "../http/service.ts";
import { startPlatform } from "../platform.ts";
import { startProviders, type Provider } from "./providers.ts";

/* Aliases of models: what a turn does when targets fail, on real servers that speak the providers' formats. */

const { providers, env } = await startProviders();
const first = providers.openai;
const second = providers.anthropic;
const platform = await startPlatform({ env: { ...env, PRIVATE_PROVIDER_HOSTS: "127.0.0.1" } });
const { api_key, admin } = await platform.organization();
const chat = clientOf({ chat: `${platform.url}/api/openai/v1` }, api_key);
const person = await signIn(platform.url, admin);
await makeTool(person);
beforeEach(() => {
  first.reply({ text: "The first." });
  second.reply({ text: "The second." });
});

let names = 0;
/** A new alias: its circuits are those of its targets, so each test that opens one brings its own organization. */
async function alias(settings: object = {}, client = person): Promise<string> {
  const name = `alias-${names++}`;
  const body = { targets: [{ model: first.model }, { model: second.model }], ...settings };
  const { status, text } = await client.call("PUT", `/aliases/${name}`, body);
  expect(status, text).toBe(200);
  return name;
}

/** Another organization, whose targets have closed circuits. */
async function freshOrganization() {
  const { api_key, admin } = await platform.organization("Fresh");
  const member = await signIn(platform.url, admin);
  return { person: member, chat: clientOf({ chat: `${platform.url}/api/openai/v1` }, api_key), api_key };
}

const ask = (model: string, more: object = {}, client = chat) =>
  client("POST", "/chat/completions", { model, messages: [{ role: "user", content: "Hello" }], ...more });
const traceOf = async (id: string, client = person) => (await client.call("GET", `/turns/${id}/trace`)).body;
const refusal = ({ dialect }: Provider, status: number, headers = {}) => ({
  status,
  headers,
  body: dialect.errorBody(status, "Not now."),
});
/** Long enough for a double that answers, on a machine with much else to do. */
const SILENCE_SECONDS = 4;
/** Accepts the request and never answers. */
const HANG = { write: () => {} };

describe.each([{ stream: false }, { stream: true }])("an alias of two models (stream: $stream)", ({ stream }) => {
  const answerOf = ({ text, body }: { text: string; body: any }) => {
    const chunks = stream ? chunksOf(text) : [body];
    const messages = chunks.flatMap(({ choices }) => choices.map((choice: any) => choice.delta ?? choice.message));
    const models = [...new Set(chunks.map(({ model }) => model))];
    return { id: chunks[0].id, models, content: messages.map(({ content }) => content ?? "").join("") };
  };

  test("gets the answer of the first, and the answer names the model", async () => {
    const { person: member, chat: client } = await freshOrganization();
    const answer = answerOf(await ask(await alias({}, member), { stream }, client));
    expect(answer).toMatchObject({ content: "The first.", models: [first.model] });
    expect(second.prompts()).toHaveLength(0);
    expect(await traceOf(answer.id, member)).toMatchObject({ answered_by: first.model, failed_targets: [] });
  });

  test.each([
    ["429", () => refusal(first, 429, { "retry-after": "30" })],
    ["500", () => refusal(first, 500)],
    ["connection", () => ({ write: (response: any) => void response.destroy() })],
    ["timeout", () => HANG],
  ])("tries the next after %s, and the trace says why", async (reason, failure) => {
    const { person: member, chat: client } = await freshOrganization();
    const name = await alias(reason === "timeout" ? { timeout_seconds: SILENCE_SECONDS } : {}, member);
    first.reply(failure());
    const answer = answerOf(await ask(name, { stream }, client));
    expect(answer).toMatchObject({ content: "The second.", models: [second.model] });
    expect(first.prompts()).toHaveLength(1);
    const trace = await traceOf(answer.id, member);
    expect(trace).toMatchObject({
      model: name,
      answered_by: second.model,
      targets: [first.model, second.model],
      failed_targets: [{ target: first.model, reason, round: 0, attempt: 1 }],
    });
    expect(trace.events.map(({ type }: any) => type)).toEqual(["TurnStarted", "TargetFailed", "TurnCompleted"]);
    const { data } = (await member.call("GET", "/usage?group_by=model")).body;
    const rows = new Map<string, any>(data.map((row: any) => [row.model, row]));
    expect(rows.get(second.model)).toMatchObject({ turns: 1 });
    // a target that is silent for its whole time has worked on the prompt, which costs money
    expect(rows.size).toBe(reason === "timeout" ? 2 : 1);
    if (reason === "timeout")
      expect(rows.get(first.model)).toMatchObject({ prompt_tokens: expect.toSatisfy((n) => n > 0) });
    expect(trace.failed_targets[0].usage?.prompt_tokens).toBe(rows.get(first.model)?.prompt_tokens);
  });

  test("does not try the next after a refusal that its conditions exclude", async () => {
    const { person: member, chat: client } = await freshOrganization();
    first.reply(refusal(first, 400));
    expect((await ask(await alias({}, member), { stream }, client)).status).toBe(502);
    expect(second.prompts()).toHaveLength(0);
    const name = await alias({ on: ["400"] }, member);
    expect(answerOf(await ask(name, { stream }, client)).content).toBe("The second.");
  });

  test("tries the next if the request is too long for the first, if its conditions say so", async () => {
    const { person: member, chat: client } = await freshOrganization();
    const tooLong = first.dialect.errorBody(400, "This model's maximum context length is 10 tokens.");
    first.reply({ status: 400, body: tooLong });
    expect((await ask(await alias({}, member), { stream }, client)).status).toBe(502);
    const answered = await ask(await alias({ on: ["context_length"] }, member), { stream }, client);
    const answer = answerOf(answered);
    expect(answer).toMatchObject({ content: "The second.", models: [second.model] });
    expect(answered.headers.get("x-turn-model")).toBe(second.model);
    const { failed_targets } = await traceOf(answer.id, member);
    expect(failed_targets).toMatchObject([{ target: first.model, reason: "context_length" }]);
  });

  test("tries the next if a filter stops the first, if its conditions say so", async () => {
    const { person: member, chat: client } = await freshOrganization();
    first.reply({ text: "", finish: "content_filter" });
    const stopped = await ask(await alias({}, member), { stream }, client);
    expect(stopped.text).toContain('"finish_reason":"content_filter"');
    const name = await alias({ on: ["content_filter"] }, member);
    const answer = answerOf(await ask(name, { stream }, client));
    expect(answer).toMatchObject({ content: "The second.", models: [second.model] });
    second.reply(refusal(second, 400));
    const left = await ask(name, { stream }, client);
    expect(left.text).toContain('"finish_reason":"content_filter"');
  });

  test("fails if every target has used up its attempts", async () => {
    const { person: member, chat: client } = await freshOrganization();
    first.reply(refusal(first, 503));
    second.reply(refusal(second, 503));
    const { status, body } = await ask(await alias({ max_attempts: 3 }, member), { stream }, client);
    expect(status).toBe(502);
    expect(body.error.message).toContain("No target of the alias");
    expect(first.prompts().length + second.prompts().length).toBe(3);
  });

  test("runs tools in rounds with the target that answered, and with another target if that fails", async () => {
    const { person: member, chat: client } = await freshOrganization();
    await makeTool(member);
    const call = { name: TOOL, args: { text: "a" } };
    first.reply({ calls: [call] }, { calls: [call] }, refusal(first, 500));
    second.reply({ text: "It says a." });
    const tools = [{ type: "function", function: { name: TOOL } }];
    const answer = answerOf(await ask(await alias({}, member), { stream, tools }, client));
    expect(answer.content).toBe("It says a.");
    expect(first.prompts()).toHaveLength(3);
    expect(second.conversations()).toMatchObject([{ results: [expect.anything(), expect.anything()], state: [] }]);
    const trace = await traceOf(answer.id, member);
    expect(trace.rounds.map(({ model }: any) => model)).toEqual([first.model, first.model]);
    expect(trace).toMatchObject({ answered_by: second.model, failed_targets: [{ target: first.model, round: 2 }] });
    const { data, totals } = (await member.call("GET", "/usage?group_by=model")).body;
    expect(data).toMatchObject([
      { model: first.model, turns: 0, prompt_tokens: 24 },
      { model: second.model, turns: 1, prompt_tokens: 12 },
    ]);
    expect(totals).toMatchObject({ turns: 1, prompt_tokens: 36 });
  });
});

test("a stream that breaks off after its first word does not switch to another target", async () => {
  const { person: member, chat: client } = await freshOrganization();
  first.reply({ text: "Half of", cut: "after-text" });
  const { text } = await ask(await alias({}, member), { stream: true }, client);
  expect(text).toContain("Half");
  expect(text).not.toContain("[DONE]");
  expect(second.prompts()).toHaveLength(0);
});

test("a partial buffered answer is never returned, and another target answers", async () => {
  const { person: member, chat: client } = await freshOrganization();
  first.reply({ text: "Half of", cut: "after-text" });
  const { body } = await ask(await alias({}, member), {}, client);
  expect(body).toMatchObject({ model: second.model, choices: [{ message: { content: "The second." } }] });
});

test("an answer that a filter stopped is paid, also if the next target breaks off", async () => {
  const { person: member, chat: client } = await freshOrganization();
  first.reply({ text: "", finish: "content_filter" });
  second.reply({ text: "Half of", cut: "after-text" });
  const { text } = await ask(await alias({ on: ["content_filter"] }, member), { stream: true }, client);
  expect(text).toContain('"error"');
  const paidModels = async () => {
    const { data } = (await member.call("GET", "/usage?group_by=model")).body;
    return data.filter((row: any) => row.prompt_tokens > 0).map((row: any) => row.model);
  };
  await expect.poll(async () => (await paidModels()).toSorted()).toEqual([first.model, second.model].toSorted());
});

test("a stream that opens before a target answers names one model in all of its chunks", async () => {
  const { person: member, chat: client } = await freshOrganization();
  first.reply(HANG);
  // longer than the 10 s after which a silent stream sends its headers
  const { headers, text } = await ask(await alias({ timeout_seconds: 12 }, member), { stream: true }, client);
  expect(text.split("\n\n")[0]).toBe(": waiting for the model");
  expect([...new Set(chunksOf(text).map(({ model }) => model))]).toEqual([second.model]);
  expect(chunksOf(text)[0].choices[0].delta).toEqual({ role: "assistant", content: "" });
  expect(headers.get("x-turn-model")).toBeNull();
});

test("a target that hangs costs one slow request, and the next requests skip it", async () => {
  const { person: member, chat: client } = await freshOrganization();
  const name = await alias({ timeout_seconds: SILENCE_SECONDS }, member);
  first.reply(HANG);
  for (let n = 0; n < 3; n++) expect((await ask(name, {}, client)).body.model).toBe(second.model);
  expect(first.prompts()).toHaveLength(1);
  const { body } = await ask(name, {}, client);
  expect((await traceOf(body.id, member)).failed_targets).toMatchObject([
    { target: first.model, reason: "circuit_open", duration_ms: 0 },
  ]);
  const metrics = async () => (await fetch(`${platform.url}/metrics`)).text();
  expect(await metrics()).toMatch(/model_target_failures_total\{reason="timeout"\} [1-9]/);
  await expect.poll(metrics).toMatch(/healed_faults_total\{fault="target_down"\} [1-9]/);
});

test("a directly named model that is down costs three requests, and further requests of this organization are refused at once", async () => {
  const { chat: client } = await freshOrganization();
  first.reply(refusal(first, 503));
  for (let n = 0; n < 3; n++) expect((await ask(first.model, {}, client)).status).toBe(502);
  const asked = first.prompts().length;
  for (const stream of [false, true]) {
    const { status, body, headers } = await ask(first.model, { stream }, client);
    expect([status, body.error.code]).toEqual([502, null]);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    expect(body.error.message).toMatch(/ is down: its last requests failed \(503\)\. It is asked again in \d+ s\.$/);
  }
  expect(first.prompts()).toHaveLength(asked);
  first.reply({ text: "The first." });
  expect((await ask(first.model, {}, (await freshOrganization()).chat)).status).toBe(200);
});

test.each([{ stream: false }, { stream: true }])(
  "an agent can have an alias as its model (stream: $stream)",
  async (how) => {
    const { person: member, api_key } = await freshOrganization();
    const model = await alias({}, member);
    const made = await member.call("POST", "/agents", { name: "A", model });
    const agent = agentClient(platform.url, api_key, made.body.id);
    first.reply(refusal(first, 503));
    const response = how.stream ? (await agent.stream("Hello")).response : await agent.ask("Hello");
    expect(response).toMatchObject({ status: "completed", model: second.model });
    expect((await agent.call("GET", `/responses/${response.id}`)).body).toMatchObject({ model: second.model });
    expect((await agent.call("GET", "/models")).body.data).toMatchObject([{ id: model, owned_by: "alias" }]);
  },
);

test("the next of several keys of one provider is used if one has reached its limit", async () => {
  const { person: member, chat: client } = await freshOrganization();
  for (const name of ["one", "two"]) {
    const own = { api_key: `key-${name}`, base_url: `${first.url}`, format: "openai", models: ["gpt-test"] };
    const { status, text } = await member.call("PUT", `/providers/openai-${name}`, own);
    expect(status, text).toBe(200);
  }
  const targets = [{ model: "openai-one/gpt-test" }, { model: "openai-two/gpt-test" }];
  const name = await alias({ targets, on: ["429"] }, member);
  first.reply(refusal(first, 429), { text: "By the second key." });
  const { body } = await ask(name, {}, client);
  expect(body).toMatchObject({
    model: "openai-two/gpt-test",
    choices: [{ message: { content: "By the second key." } }],
  });
  const used = first.requests.slice(-2).map(({ headers }) => headers["authorization"]);
  expect(used).toEqual(["Bearer key-one", "Bearer key-two"]);
});

test("a model that has lost its credential is skipped", async () => {
  const { person: member, chat: client } = await freshOrganization();
  const own = { api_key: "k", base_url: "https://models.example/v1", models: ["m"] };
  expect((await member.call("PUT", "/providers/mine", own)).status).toBe(200);
  const name = await alias({ targets: [{ model: "mine/m" }, { model: second.model }], on: ["429"] }, member);
  expect((await member.call("DELETE", "/providers/mine")).status).toBe(204);
  const { body } = await ask(name, {}, client);
  expect(body.model).toBe(second.model);
  expect((await traceOf(body.id, member)).failed_targets).toMatchObject([
    { target: "mine/m", reason: "no_credential" },
  ]);
});

test("aliases are listed with the models, for their organization and for keys that may use them", async () => {
  const { person: member, chat: client } = await freshOrganization();
  const name = await alias({}, member);
  const ids = async (call: typeof chat) => (await call("GET", "/models")).body.data.map(({ id }: any) => id);
  expect(await ids(client)).toContain(name);
  expect((await client("GET", `/models/${name}`)).body).toMatchObject({ id: name, owned_by: "alias" });
  const limited = (await member.call("POST", "/keys", { name: "K", allowed_models: [first.model] })).body.key;
  const keyed = clientOf({ chat: `${platform.url}/api/openai/v1` }, limited);
  expect(await ids(keyed)).toEqual([first.model]);
  expect((await ask(name, {}, keyed)).body.error).toMatchObject({ code: "model_not_found", param: "model" });
  expect((await ask(name)).body.error).toMatchObject({ code: "model_not_found" });
  expect(await ids(chat)).not.toContain(name);
  expect((await person.call("GET", `/aliases/${name}`)).status).toBe(404);
  expect((await member.call("DELETE", `/aliases/${name}`)).status).toBe(204);
  expect((await ask(name, {}, client)).status).toBe(400);
});

test.each([
  ["targets", { targets: [] }],
  ["targets", { targets: Array.from({ length: 9 }, (_, n) => ({ model: `openai/${n}` })) }],
  ["targets[1].model", { targets: [{ model: "openai/gpt-test" }, { model: "other" }] }],
  ["targets[1].model", { targets: [{ model: "openai/gpt-test" }, { model: "openai/gpt-test" }] }],
  ["targets[0].model", { targets: [{ model: "nobody/knows" }] }],
  ["targets[1].weight", { targets: [{ model: "openai/gpt-test", weight: 1 }, { model: "offline/echo" }] }],
  ["targets[0].weight", { targets: [{ model: "openai/gpt-test", weight: -1 }] }],
  ["targets[0].weight", { targets: [{ model: "openai/gpt-test", weight: 0 }] }],
  ["on[1]", { on: ["429", "sometimes"] }],
  ["on[0]", { on: ["200"] }],
  ["timeout_seconds", { timeout_seconds: 0 }],
  ["max_attempts", { max_attempts: 11 }],
])("an invalid alias is refused with the field %s: %j", async (param, settings) => {
  const body = { targets: [{ model: first.model }], ...settings };
  const { status, body: answer } = await person.call("PUT", "/aliases/wrong", body);
  expect(status).toBe(400);
  expect(answer.error.param).toBe(param);
});

test("an alias has a name that no model can have", async () => {
  const body = { targets: [{ model: first.model }] };
  for (const name of ["openai%2Fgpt-test", "Fast", "a".repeat(65)])
    expect((await person.call("PUT", `/aliases/${name}`, body)).body.error).toMatchObject({ param: "alias" });
});

test("the example of docs/models.md returns the documented answer", async () => {
  const { person: member, api_key } = await freshOrganization();
  const page = readFileSync(new URL("../../docs/models.md", import.meta.url), "utf8");
  const names = `API=${platform.url}/api; JSON='content-type: application/json'; ME='authorization: Bearer ${member.token}'
    ask() { curl -sN -H "authorization: Bearer ${api_key}" "$@" && echo; }`;
  const lines = `${names}\n${page.split("```")[1]!}`;
  const { stdout } = await promisify(execFile)("bash", ["-e", "-c", lines]);
  expect(stdout).toContain('"model":"offline/echo"');
});
