import { describe, expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { code, SOON, UNKNOWN, type Client } from "../workflows/tenant.ts";
import { belongings, openTwoTenants } from "./tenants.ts";

const { home, foreign } = await openTwoTenants();
const { say, upload } = belongings(home);

const ask = (by: Client, agent: string, input: string) =>
  home.made(by("POST", `/agents/${agent}/v1/responses`, { input }));
const idsAt = async (path: string, by = home.owner): Promise<string[]> =>
  (await home.made(by("GET", path))).data.map(({ id }: { id: string }) => id);

/** A deleted key with what it leaves: two chats of two users, a response and two files. */
async function leaveThings() {
  const key = await home.newKey();
  const agent = await home.newAgent();
  await say(key.call, "Chat", { user: "u" });
  await say(key.call, "Chat");
  const response = (await ask(key.call, agent, "Ask the agent")).id as string;
  const files = [await upload(key.call, "Hello"), await upload(key.call, "Hello", "u")];
  await home.made(home.owner("DELETE", `/keys/${key.id}`));
  return { key, agent, response, files, owner: `key:${key.id}` };
}

describe("files and responses of any owner", () => {
  test("are listed newest first, in pages, without file contents", async () => {
    const { owner, agent, response, files, key } = await leaveThings();
    const { data } = await home.made(home.owner("GET", `/files?owner=${owner}`));
    const file = { object: "file", owner, filename: "note.md", purpose: "user_data", bytes: 5 };
    const shared = { ...file, mime_type: "text/markdown", created_at: expect.any(String) };
    expect(data).toEqual([
      { ...shared, id: files[1] },
      { ...shared, id: files[0] },
    ]);
    const first = await home.made(home.owner("GET", `/files?owner=${owner}&limit=1`));
    expect([first.data[0].id, first.has_more]).toEqual([files[1], true]);
    expect(await idsAt(`/files?owner=${owner}&limit=1&after=${first.next_after}`)).toEqual([files[0]]);
    expect(await idsAt(`/files?owner=agent:${agent}`)).toEqual([]);
    for (const name of [owner, `agent:${agent}`]) {
      const list = await home.made(home.owner("GET", `/responses?owner=${name}`));
      expect(list.data).toMatchObject([
        { id: response, owner: `key:${key.id}`, agent_id: agent, status: "completed", title: "Ask the agent" },
      ]);
    }
    for (const path of [`/files?owner=${owner}`, `/responses?owner=${owner}`, `/responses?owner=agent:${agent}`])
      expect(await idsAt(path, foreign.owner)).toEqual([]);
  });

  test("are deleted one by one", async () => {
    const { owner, response, files } = await leaveThings();
    expect(await home.made(home.owner("DELETE", `/files/${files[0]}`))).toEqual({
      id: files[0],
      object: "file",
      deleted: true,
    });
    expect(await idsAt(`/files?owner=${owner}`)).toEqual([files[1]]);
    expect((await home.made(home.owner("DELETE", `/responses/${response}`))).deleted).toBe(true);
    expect(await idsAt(`/responses?owner=${owner}`)).toEqual([]);
    expect(code(await home.owner("DELETE", `/files/${files[0]}`))).toEqual([404, "file_not_found"]);
    for (const id of [response, "x", UNKNOWN])
      expect(code(await home.owner("DELETE", `/responses/${id}`)), id).toEqual([404, "response_not_found"]);
  });
});

describe("an erasure", () => {
  const settled = async (id: string): Promise<any> => {
    const read = () => home.made(home.owner("GET", `/erasures/${id}`));
    await expect.poll(async () => (await read()).status, SOON).toBe("completed");
    return read();
  };

  test("deletes everything that a deleted key left behind, and nothing of others", async () => {
    const mine = await leaveThings();
    const other = await leaveThings();
    const started = await home.owner("POST", "/erasures", { owner: mine.owner });
    expect([started.status, started.body]).toMatchObject([202, { owner: mine.owner, completed_at: null }]);
    const erasure = await settled(started.body.id);
    expect(erasure).toMatchObject({ object: "erasure", threads_deleted: 3, files_deleted: 2 });
    expect(erasure.started_by).toMatch(/^person:/);
    for (const kind of ["threads", "files", "responses"]) {
      expect(await idsAt(`/${kind}?owner=${mine.owner}`), kind).toEqual([]);
      expect(await idsAt(`/${kind}?owner=${other.owner}`), kind).not.toEqual([]);
    }
    const turn = mine.response.replace("resp_", "");
    expect(code(await home.owner("GET", `/turns/${turn}/trace`))).toEqual([404, "turn_not_found"]);
    expect((await idsAt("/erasures"))[0]).toBe(erasure.id);
  });

  test("deletes only the selected kinds", async () => {
    const mine = await leaveThings();
    const body = { owner: mine.owner, kinds: ["files", "documents"] };
    const erasure = await settled((await home.made(home.owner("POST", "/erasures", body))).id);
    expect(erasure).toMatchObject({ threads_deleted: 0, files_deleted: 2 });
    expect(await idsAt(`/threads?owner=${mine.owner}`)).toHaveLength(3);
    for (const kinds of [[], ["keys"], "files"]) {
      const { status, body: refused } = await home.owner("POST", "/erasures", { owner: mine.owner, kinds });
      expect([status, refused.error.param]).toEqual([400, expect.stringMatching(/^kinds/)]);
    }
  });

  test("of an agent deletes the threads with its answers, and of a person their chats", async () => {
    const member = await home.member("builder");
    const [agent, kept] = [await home.newAgent(), await home.newAgent()];
    await ask(member.call, agent, "One");
    await ask(member.call, kept, "Two");
    await say(member.call, "Three");
    await settled((await home.made(home.owner("POST", "/erasures", { owner: `agent:${agent}` }))).id);
    expect((await idsAt(`/threads?owner=person:${member.id}`)).length).toBe(2);
    await settled((await home.made(home.owner("POST", "/erasures", { owner: `person:${member.id}` }))).id);
    expect(await idsAt(`/threads?owner=person:${member.id}`)).toEqual([]);
    expect(await idsAt("/threads", member.call)).toEqual([]);
  });

  test.each(["a person", "an external user"])(
    "of %s stops running turns, and their tokens are counted",
    async (whose) => {
      const member = await home.member("builder");
      const user = whose === "a person" ? undefined : `user-${newId()}`;
      // makes the worker load its tokenizer: a turn has less than a second to be counted
      await say(member.call, "Ready");
      const since = (await home.made(home.owner("GET", "/events?order=newest&limit=1"))).data[0].cursor;
      const content = "/slow 5\n/say a b c d e f g h i j k l m n o p q r s t u v w x y z";
      const body = { model: "offline/scripted", messages: [{ role: "user", content }], user };
      const waiting = member.call("POST", "/openai/v1/chat/completions", body);
      const turns = async () =>
        (await home.made(home.owner("GET", `/events?after=${since}`))).data.filter(({ type }: any) =>
          type.startsWith("Turn"),
        );
      await expect.poll(turns, SOON).toHaveLength(1);
      const owner = user === undefined ? `person:${member.id}` : `user:${user}`;
      await settled((await home.made(home.owner("POST", "/erasures", { owner }))).id);
      expect(code(await waiting)).toEqual([404, "thread_not_found"]);
      const [started, ended] = await turns();
      expect(ended).toMatchObject({ type: "TurnFailed", data: { turn_id: started.data.turn_id } });
      expect(ended.data.usage.prompt_tokens).toBeGreaterThan(0);
    },
  );

  test("of many threads runs in several batches, and keeps what the owner creates meanwhile", async () => {
    const key = await home.newKey();
    await Promise.all(Array.from({ length: 60 }, (_, n) => say(key.call, `Chat ${n}`)));
    const { id } = await home.made(home.owner("POST", "/erasures", { owner: `key:${key.id}` }));
    await say(key.call, "Later");
    expect((await settled(id)).threads_deleted).toBe(60);
    const { data } = await home.made(key.call("GET", "/threads"));
    expect(data.map(({ title }: { title: string }) => title)).toEqual(["Later"]);
  });

  test("runs once for a repeated request, and deletes nothing of another organization", async () => {
    const key = await home.newKey();
    await say(key.call, "Stays");
    const again = { "idempotency-key": newId() };
    const start = (by: Client) => by("POST", "/erasures", { owner: `key:${key.id}` }, again);
    const [first, second] = [await start(foreign.owner), await start(foreign.owner)];
    expect([first.status, second.body.id]).toEqual([202, first.body.id]);
    const read = () => foreign.made(foreign.owner("GET", `/erasures/${first.body.id}`));
    await expect.poll(async () => (await read()).status, SOON).toBe("completed");
    expect(await read()).toMatchObject({ threads_deleted: 0, files_deleted: 0 });
    expect(await idsAt("/threads", key.call)).toHaveLength(1);
  });

  test("of an external user deletes the data that all keys and agents store for the user, and the log does not name the user", async () => {
    const user = `zo\u00eb-${newId()}@example.com`;
    const [one, two, agent] = [await home.newKey(), await home.newKey(), await home.newAgent()];
    await say(one.call, "Of the user", { user });
    await say(one.call, "Of nobody");
    await say(two.call, "Of another one", { user: "zoe" });
    await home.made(two.call("POST", `/agents/${agent}/v1/responses`, { input: "Ask", user }));
    const [file, kept] = [await upload(two.call, "Hello", user), await upload(two.call, "Hello", "zoe")];
    const started = await home.made(home.owner("POST", "/erasures", { owner: `user:${user}` }));
    expect(await settled(started.id)).toMatchObject({ threads_deleted: 2, files_deleted: 1 });
    for (const key of [one, two]) expect(await idsAt(`/threads?owner=key:${key.id}`)).toHaveLength(1);
    expect(await idsAt(`/files?owner=key:${two.id}`)).toEqual([kept]);
    expect(await idsAt(`/files?owner=key:${two.id}`)).not.toContain(file);
    const { data } = await home.made(home.owner("GET", "/events?type=ErasureStarted&order=newest&limit=1"));
    expect(data[0].data.owner).toMatch(/^user:/);
    expect(JSON.stringify(data)).not.toContain(user);
  });

  test("requires an owner", async () => {
    for (const owner of [undefined, "", "key:1", "user:"])
      expect((await home.owner("POST", "/erasures", { owner })).status).toBe(400);
    expect(code(await home.owner("GET", `/erasures/${UNKNOWN}`))).toEqual([404, "erasure_not_found"]);
  });
});
