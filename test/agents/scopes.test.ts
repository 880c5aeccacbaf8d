import { expect, test } from "vitest";
import { fileForm, UNKNOWN } from "../http/service.ts";
import { agentClient, signIn, startAgents, type AgentClient } from "./agents.ts";

/* A response belongs to a key, a user and an agent. For all others the answer is byte for byte that for an unknown id (spec: Authentication). */

const agents = await startAgents();
const agent_id = await agents.agent({ model: "offline/echo" });
const agent = agentClient(agents.url, agents.api_key, agent_id);

/** All requests about a response, for a user. */
async function asked(client: AgentClient, { id, thread_id }: { id: string; thread_id: string }, user?: string) {
  const query = user === undefined ? "" : `user=${user}`;
  const more = user === undefined ? {} : { user };
  const answers = [
    await client.call("GET", `/responses/${id}?${query}`),
    await client.call("GET", `/responses/${id}?stream=true&${query}`),
    await client.call("GET", `/responses/${id}/input_items?${query}`),
    await client.call("POST", `/responses/${id}/cancel?${query}`),
    await client.call("DELETE", `/responses/${id}?${query}`),
    await client.post({ input: "x", previous_response_id: id, ...more }),
    await client.post({ input: "x", ...more }, { "x-thread-id": thread_id }),
    await client.call("GET", `/models?${query}`, undefined, { "x-thread-id": thread_id }),
  ];
  return answers.map(({ status, text, headers }) => ({ status, text, thread: headers.get("x-thread-id") }));
}
const nothing = (client: AgentClient, user?: string) =>
  asked(client, { id: `resp_${UNKNOWN}`, thread_id: UNKNOWN }, user);

test("another key, session, user or agent gets the same answer as for an unknown response", async () => {
  const mine = await agent.ask("Hello", { user: "ada" });
  const other = await agents.key();
  const strangers: [AgentClient, string | undefined][] = [
    [agentClient(agents.url, other.key, agent_id), "ada"],
    [agentClient(agents.url, agents.person.token, agent_id), "ada"],
    [agent, "bob"],
    [agent, undefined],
    [agent, ""],
    [await agents.open({ model: "offline/echo" }), "ada"],
  ];
  for (const [client, user] of strangers) {
    const seen = await asked(client, mine, user);
    expect(seen.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404, 404, 200]);
    expect(seen).toEqual(await nothing(client, user));
  }
  expect((await agent.call("GET", `/responses/${mine.id}?user=ada`)).body).toEqual(mine);
});

test("another organization cannot use the agent, nor the agent its responses", async () => {
  const mine = await agent.ask("Hello");
  const elsewhere = await agents.platform.organization("Elsewhere");
  const person = await signIn(agents.url, elsewhere.admin);
  for (const token of [elsewhere.api_key, person.token]) {
    const seen = await asked(agentClient(agents.url, token, agent_id), mine);
    expect(seen.map(({ status }) => status)).toEqual(seen.map(() => 404));
    expect(seen).toEqual(await asked(agentClient(agents.url, token, UNKNOWN), mine));
    const across = agentClient(agents.url, token, elsewhere.agent_id);
    expect(await asked(across, mine)).toEqual(await nothing(across));
  }
});

test("an agent of a project can be used with the project's keys and with keys without a project", async () => {
  const [ours, theirs] = [await agents.project(), await agents.project()];
  const inside = await agents.agent({ model: "offline/echo", project_id: ours });
  const [own, other] = [await agents.key({ project_id: ours }), await agents.key({ project_id: theirs })];
  const status = async (key: string) => (await agentClient(agents.url, key, inside).post({ input: "x" })).status;
  expect([await status(own.key), await status(agents.api_key), await status(other.key)]).toEqual([200, 200, 404]);
  const mine = await agentClient(agents.url, own.key, inside).ask("x");
  expect(await asked(agentClient(agents.url, other.key, inside), mine)).toEqual(
    await asked(agentClient(agents.url, other.key, UNKNOWN), mine),
  );
  const withoutProject = await agentClient(agents.url, agents.api_key, agent_id).ask("x");
  expect(await asked(agentClient(agents.url, other.key, agent_id), withoutProject)).toEqual(
    await asked(agentClient(agents.url, other.key, UNKNOWN), withoutProject),
  );
});

test("an agent cannot continue a chat thread, nor a chat an agent's thread", async () => {
  const { call } = agent;
  const chat = `${agents.base_url}/chat/completions`;
  const said = { model: "offline/echo", messages: [{ role: "user", content: "x" }] };
  const thread = (await call("POST", chat, said)).headers.get("x-thread-id")!;
  expect((await agent.post({ input: "x" }, { "x-thread-id": thread })).body.error.code).toBe("thread_not_found");
  const { thread_id } = await agent.ask("x");
  expect((await call("POST", chat, said, { "x-thread-id": thread_id })).body.error.code).toBe("thread_not_found");
});

test("a file of another user or key is unknown to a response", async () => {
  const form = fileForm("words", "a.txt", { fields: { user: "ada" } });
  const { id } = (await agent.call("POST", `${agents.base_url}/files`, form)).body;
  const refused = await agent.post({ input: "x", attachments: [id], user: "bob" });
  const unknown = await agent.post({ input: "x", attachments: [UNKNOWN], user: "bob" });
  expect([refused.status, refused.text]).toEqual([404, unknown.text]);
  expect((await agent.ask("x", { attachments: [id], user: "ada" })).output[0].content[0].text).toContain("a.txt");
});

test("the id of a response works with and without its prefix", async () => {
  const { id, thread_id } = await agent.ask("Hello");
  const bare = id.slice("resp_".length);
  for (const name of [bare, bare.toUpperCase(), id]) {
    expect((await agent.call("GET", `/responses/${name}`)).body.id).toBe(id);
    const next = await agent.ask("More", { previous_response_id: name });
    expect([next.previous_response_id, next.thread_id]).toEqual([id, thread_id]);
  }
});

test("every route answers with x-thread-id", async () => {
  const { id, thread_id } = await agent.ask("Hello");
  const header = { "x-thread-id": thread_id };
  const streamed = await agent.stream("More", {}, header);
  expect([streamed.headers.get("x-thread-id"), streamed.response.thread_id]).toEqual([thread_id, thread_id]);
  expect((await agent.post({ input: "More" }, header)).headers.get("x-thread-id")).toBe(thread_id);
  const threadOf = async (method: string, path: string, headers = {}) =>
    (await agent.call(method, path, undefined, headers)).headers.get("x-thread-id");
  expect(await threadOf("GET", `/responses/${id}`)).toBe(thread_id);
  expect(await threadOf("GET", `/responses/${id}?stream=true`)).toBe(thread_id);
  expect(await threadOf("GET", `/responses/${id}/input_items`)).toBe(thread_id);
  expect(await threadOf("POST", `/responses/${id}/cancel`)).toBe(thread_id);
  expect(await threadOf("GET", "/models", header)).toBe(thread_id);
  expect(await threadOf("GET", "/models", { "x-thread-id": UNKNOWN })).toBeNull();
  expect(await threadOf("GET", "/models")).toBeNull();
  expect(await threadOf("DELETE", `/responses/${id}`)).toBe(thread_id);
});
