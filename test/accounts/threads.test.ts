import { describe, expect, test } from "vitest";
import { code, UNKNOWN, type Client } from "../workflows/tenant.ts";
import { openTwoTenants } from "./tenants.ts";

const { home, foreign } = await openTwoTenants();

/** Sends a chat message, and returns the id of its thread. */
async function say(by: Client, text: string, more: object = {}, thread?: string): Promise<string> {
  const body = { model: "offline/echo", messages: [{ role: "user", content: text }], ...more };
  const answer = await by("POST", "/openai/v1/chat/completions", body, thread ? { "x-thread-id": thread } : {});
  expect(answer.status, answer.text).toBe(200);
  return answer.headers.get("x-thread-id")!;
}
/** Asks an agent: the id of its thread. */
async function ask(by: Client, agent: string, input: string, more: object = {}): Promise<string> {
  const answer = await by("POST", `/agents/${agent}/v1/responses`, { input, ...more });
  expect(answer.status, answer.text).toBe(200);
  return answer.headers.get("x-thread-id")!;
}
const list = (by: Client, query = ""): Promise<any> => home.made(by("GET", `/threads${query}`));
const idsOf = async (by: Client, query?: string): Promise<string[]> =>
  (await list(by, query)).data.map(({ id }: { id: string }) => id);

describe("the list of one's own threads", () => {
  test("shows chats and threads with agents, newest first, with title, turns and times", async () => {
    const { id: key_id, call } = await home.newKey();
    const agent = await home.newAgent();
    const chat = await say(call, "Where is  my\norder 4711?");
    await say(call, "And now?", {}, chat);
    const response = await ask(call, agent, "Hello agent");
    const { object, data, has_more, next_after } = await list(call);
    expect({ object, has_more, next_after }).toEqual({ object: "list", has_more: false, next_after: null });
    const times = {
      newest_turn_id: expect.any(String),
      created_at: expect.any(String),
      updated_at: expect.any(String),
    };
    const shared = { object: "thread", owner: `key:${key_id}`, model: "offline/echo", status: "completed", ...times };
    expect(data).toEqual([
      { ...shared, id: response, agent_id: agent, title: "Hello agent", turns: 1 },
      { ...shared, id: chat, agent_id: null, title: "Where is my order 4711?", turns: 2 },
    ]);
    expect(Date.parse(data[1].updated_at)).toBeGreaterThan(Date.parse(data[1].created_at));
    expect(await home.made(call("GET", `/threads/${chat}`))).toEqual(data[1]);
  });

  test("comes in pages, and refuses an `after` that is not a cursor", async () => {
    const { call } = await home.newKey();
    const threads: string[] = [];
    for (const n of [1, 2, 3]) threads.unshift(await say(call, `Number ${n}`));
    const first = await list(call, "?limit=2");
    expect(first.data.map(({ id }: any) => id)).toEqual(threads.slice(0, 2));
    expect(first.has_more).toBe(true);
    // a thread that is created between two pages moves no other thread to the next page
    await say(call, "Number 4");
    const second = await list(call, `?limit=2&after=${first.next_after}`);
    expect([second.data.map(({ id }: any) => id), second.has_more]).toEqual([threads.slice(2), false]);
    for (const after of ["1", "x", UNKNOWN]) expect((await call("GET", `/threads?after=${after}`)).status).toBe(400);
  });

  test("contains only threads of the same key or person and the same user", async () => {
    const [mine, other] = [await home.newKey(), await home.newKey()];
    const person = await home.member("viewer");
    const agent = await home.newAgent();
    const without = await say(mine.call, "Without user");
    const chat = await say(mine.call, "With user", { user: "u" });
    const response = await ask(mine.call, agent, "With user", { user: "u" });
    await say(mine.call, "Empty user", { user: "" });
    expect(await idsOf(mine.call)).toEqual([without]);
    expect(await idsOf(mine.call, "?user=u")).toEqual([response, chat]);
    expect(await idsOf(mine.call, "?user=v")).toEqual([]);
    expect(await idsOf(other.call)).toEqual([]);
    expect(await idsOf(person.call)).toEqual([]);
    expect(await idsOf(foreign.key)).toEqual([]);
  });

  test("omits a thread whose only turn was deleted", async () => {
    const { call } = await home.newKey();
    const agent = await home.newAgent();
    const answer = await call("POST", `/agents/${agent}/v1/responses`, { input: "x" });
    await home.made(call("DELETE", `/agents/${agent}/v1/responses/${answer.body.id}`));
    expect(await idsOf(call)).toEqual([]);
  });

  test("shows the title of a message that is stored as a blob", async () => {
    const { call } = await home.newKey();
    await say(call, `Long story ${"and then ".repeat(40_000)}`);
    const [{ title }] = (await list(call)).data;
    expect(title).toMatch(/^Long story and then .*…$/);
  });
});

describe("one's own thread", () => {
  test("with an agent shows its messages", async () => {
    const { call } = await home.newKey();
    const thread = await ask(call, await home.newAgent(), "Hello agent");
    const { data } = await home.made(call("GET", `/threads/${thread}/messages`));
    expect(data.map(({ role, content }: any) => [role, content])).toEqual([
      ["user", "Hello agent"],
      ["assistant", expect.stringContaining("Hello agent")],
    ]);
  });

  test("can be deleted, also with an agent, and then gets the same answer as an unknown one", async () => {
    const { call } = await home.newKey();
    const thread = await ask(call, await home.newAgent(), "Hello agent");
    expect(await home.made(call("DELETE", `/threads/${thread}`))).toEqual({
      id: thread,
      object: "thread",
      deleted: true,
    });
    expect(await idsOf(call)).toEqual([]);
    for (const path of [`/threads/${thread}`, `/threads/${thread}/messages`])
      expect(code(await call("GET", path))).toEqual([404, "thread_not_found"]);
    expect(code(await call("DELETE", `/threads/${thread}`))).toEqual([404, "thread_not_found"]);
  });

  test("is hidden from another key, another user and another organization", async () => {
    const [mine, other] = [await home.newKey(), await home.newKey()];
    const thread = await say(mine.call, "Mine");
    const member = await home.member("builder");
    const strangers: [Client, string][] = [
      [other.call, ""],
      [mine.call, "?user=u"],
      [member.call, ""],
      [foreign.owner, ""],
      [foreign.key, ""],
    ];
    for (const [call, query] of strangers)
      for (const [method, rest] of [
        ["GET", ""],
        ["GET", "/messages"],
        ["DELETE", ""],
      ] as const) {
        const [known, unknown] = [thread, UNKNOWN].map((id) => call(method, `/threads/${id}${rest}${query}`));
        expect((await known!).text).toBe((await unknown!).text);
        expect(code(await known!)).toEqual([404, "thread_not_found"]);
      }
    expect(await idsOf(mine.call)).toEqual([thread]);
  });
});

describe("threads of any owner", () => {
  test("are listed by key, person and agent, even after the owner's deletion", async () => {
    const key = await home.newKey();
    const member = await home.member("builder");
    const agent = await home.newAgent();
    const chat = await say(key.call, "Chat of a key", { user: "u" });
    const response = await ask(key.call, agent, "A key asks");
    const own = await ask(member.call, agent, "A person asks");
    await home.made(home.owner("DELETE", `/keys/${key.id}`));
    await home.made(home.owner("DELETE", `/members/${member.id}`));
    await home.made(home.owner("DELETE", `/agents/${agent}`));
    const admin = await home.member("admin");
    for (const call of [home.owner, admin.call]) {
      expect(await idsOf(call, `?owner=key:${key.id}`)).toEqual([response, chat]);
      expect(await idsOf(call, `?owner=person:${member.id}`)).toEqual([own]);
      expect(await idsOf(call, `?owner=agent:${agent.toUpperCase()}`)).toEqual([own, response]);
      expect(await idsOf(call, `?owner=key:${UNKNOWN}`)).toEqual([]);
    }
    expect(await idsOf(foreign.owner, `?owner=key:${key.id}`)).toEqual([]);
    expect(await idsOf(foreign.owner, `?owner=agent:${agent}`)).toEqual([]);
  });

  test("are listed only for owners and admins, and require an owner", async () => {
    const key = await home.newKey();
    expect(code(await key.call("GET", `/threads?owner=key:${key.id}`))).toEqual([403, "session_required"]);
    for (const role of ["builder", "approver", "viewer"] as const) {
      const { call, id } = await home.member(role);
      expect(code(await call("GET", `/threads?owner=person:${id}`))).toEqual([403, "forbidden"]);
    }
    for (const owner of ["", key.id, "user:x", `key:${key.id}x`])
      expect((await home.owner("GET", `/threads?owner=${owner}`)).status, owner).toBe(400);
  });

  test("can be deleted by owners and admins, who cannot read their messages", async () => {
    const key = await home.newKey();
    const thread = await say(key.call, "Of a key", { user: "u" });
    expect(code(await home.owner("GET", `/threads/${thread}/messages`))).toEqual([404, "thread_not_found"]);
    await home.made(home.owner("DELETE", `/threads/${thread}`));
    expect(await idsOf(key.call, "?user=u")).toEqual([]);
  });
});
