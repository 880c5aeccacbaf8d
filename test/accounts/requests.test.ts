import { describe, expect, test } from "vitest";
import { countRequests } from "#projections/turns/listRequests.ts";
import { expectRefusal, UNKNOWN } from "../hostile/target.ts";
import { say, startService } from "../http/service.ts";
import { openTenant, type Client } from "../workflows/tenant.ts";

/* GET /api/turns: the requests of an organization to models. */

const service = await startService();
const tenant = await openTenant(service.base, await service.organization("Asking"));
const stranger = await openTenant(service.base, await service.organization("Stranger"));

const ask = async (text: string, more: object = {}, by: Client = tenant.key) =>
  by("POST", "/openai/v1/chat/completions", say(text, { ...more }));
const idOf = ({ body }: { body: any }): string => body.id.replace("chatcmpl-", "");
const list = async (query = "", by: Client = tenant.owner): Promise<any> => tenant.made(by("GET", `/turns?${query}`));
const ids = async (query = "", by?: Client): Promise<string[]> =>
  (await list(query, by)).data.map(({ id }: { id: string }) => id);

describe("the requests of an organization", () => {
  test("are listed newest first, with the question, the caller and the status", async () => {
    const answer = await ask(`${"long ".repeat(100)}`);
    const agent = await tenant.made(tenant.owner("POST", "/agents", { name: "Helper", model: "offline/echo" }));
    const response = await tenant.made(tenant.owner("POST", `/agents/${agent.id}/v1/responses`, { input: "Hi" }));
    await ask("/say some words here\n/cut", { model: "offline/scripted", stream: true });
    const { data, has_more, next_after } = await list();
    expect([data.length, has_more, next_after]).toEqual([3, false, null]);
    expect(data[0]).toMatchObject({
      status: "failed",
      model: "offline/scripted",
      streamed: true,
      error: expect.stringContaining("broke off"),
      usage: { completion_tokens: expect.any(Number) },
    });
    expect(data[1]).toMatchObject({
      id: response.id.replace("resp_", ""),
      status: "completed",
      agent: { id: agent.id, version: 1, name: "Helper" },
      principal: expect.stringMatching(/^person:/),
      principal_name: expect.any(String),
      question: "Hi",
    });
    expect(data[2]).toMatchObject({
      id: idOf(answer),
      thread_id: answer.headers.get("x-thread-id"),
      principal: expect.stringMatching(/^key:/),
      agent: null,
      finish_reason: "stop",
      attempts: 1,
      duration_ms: expect.any(Number),
    });
    expect(data[2].question).toHaveLength(300);
    await tenant.made(tenant.owner("DELETE", `/agents/${agent.id}`));
    expect((await list(`agent_id=${agent.id}`)).data).toMatchObject([{ agent: { id: agent.id, name: null } }]);
  });

  test("are filtered by status, caller, model, agent, text of the error and time", async () => {
    const [failed, response, chat] = (await list()).data;
    expect(await ids("status=failed")).toEqual([failed.id]);
    expect(await ids(`principal=${response.principal}`)).toEqual([response.id]);
    expect(await ids("principal=me")).toEqual([response.id]);
    expect(await ids("model=offline/scripted")).toEqual([failed.id]);
    expect(await ids(`agent_id=${response.agent.id.toUpperCase()}`)).toEqual([response.id]);
    expect(await ids(`thread_id=${chat.thread_id}`)).toEqual([chat.id]);
    expect(await ids(`thread_id=${UNKNOWN}`)).toEqual([]);
    expect(await ids("q=BROKE OFF")).toEqual([failed.id]);
    expect(await ids("q=nothing like it")).toEqual([]);
    expect(await ids(`to=${failed.started_at}&from=${chat.started_at}`)).toEqual([response.id, chat.id]);
    for (const [query, param] of [
      ["after=x", "after"],
      [`after=1_${UNKNOWN}x`, "after"],
      ["status=none", "status"],
      ["principal=%00", "principal"],
      ["from=yesterday", "from"],
    ] as const)
      expectRefusal(await tenant.owner("GET", `/turns?${query}`), 400, undefined, param);
  });

  test("are found by words of their question in any order and case, but not by words of other messages", async () => {
    const [kettle, history, quoted] = [
      idOf(await ask("Where is the refund policy for BROKEN Kettles?")),
      idOf(
        await tenant.key("POST", "/openai/v1/chat/completions", {
          model: "offline/echo",
          messages: [
            { role: "user", content: "Where is the broken kettle?" },
            { role: "assistant", content: "On the shelf." },
            { role: "user", content: "And the 100 % user_guide, “Größe” XL?" },
          ],
        }),
      ),
      idOf(await ask(String.raw`Does "C:\temp\new" hold?`)),
    ];
    const asked = (words: string) => ids(`question=${encodeURIComponent(words)}`);
    expect(await asked("kettles  Broken\n")).toEqual([kettle]);
    expect(await asked("broken")).toEqual([kettle]);
    // their position in the list is that of the filter, whatever JSON and patterns make of them
    expect(await asked("größe 100 % USER_GUIDE")).toEqual([history]);
    expect(await asked(String.raw`"C:\temp\new"`)).toEqual([quoted]);
    for (const words of ["user__guide", "role content", "kettles shelf", "\0"])
      expect(await asked(words), words).toEqual([]);
    expect(await asked("  ")).toEqual(await ids());
    const many = `question=${"a%20".repeat(21)}`;
    expectRefusal(await tenant.owner("GET", `/turns?${many}`), 400, undefined, "question");
    expect(await ids("question=kettles", stranger.owner)).toEqual([]);
  });

  test("are no longer found by words of a deleted question", async () => {
    const answer = await ask("An unforgettable xylophone");
    expect(await ids("question=xylophone")).toEqual([idOf(answer)]);
    await tenant.made(tenant.key("DELETE", `/openai/v1/threads/${answer.headers.get("x-thread-id")}`));
    expect(await ids("question=xylophone")).toEqual([]);
  });

  test("can be filtered by one end user, across all callers and agents", async () => {
    const agent = await tenant.newAgent();
    const { call: other } = await tenant.newKey({ name: "Second shop" });
    const chat = idOf(await ask("Where is my parcel?", { user: "anna@shop.example" }));
    const moved = idOf(await ask("And my money?", { user: "anna@shop.example" }, other));
    const response = await tenant.made(
      tenant.key("POST", `/agents/${agent}/v1/responses`, { input: "Hello", user: "anna@shop.example" }),
    );
    await ask("Somebody else", { user: "bert" });
    const all = [response.id.replace("resp_", ""), moved, chat];
    expect(await ids("user=anna@shop.example")).toEqual(all);
    expect(await ids("user=anna@shop.example&limit=1")).toEqual(all.slice(0, 1));
    expect(await ids("user=anna")).toEqual([]);
    const { call: viewer } = await tenant.member("viewer");
    expect(await ids("user=anna@shop.example", viewer)).toEqual([]);
    expect(await ids("user=anna@shop.example", stranger.owner)).toEqual([]);
    expectRefusal(await tenant.owner("GET", "/turns?user="), 400, undefined, "user");
  });

  test("are found even behind more rows than one page scans", async () => {
    const oldest = idOf(await ask("An early aardvark", {}, stranger.key));
    const long = `/say ok\n${"filler ".repeat(8_500)}`;
    const newest = idOf(await ask(long, { model: "offline/scripted" }, stranger.key));
    await list("", stranger.owner);
    // 280 turns would take half a minute to answer
    await service.db.query(
      `insert into read.turns select (jsonb_populate_record(turn, jsonb_build_object('id', gen_random_uuid()))).*
       from read.turns turn, generate_series(1, 279) where id = $1`,
      [newest],
    );
    const first = await list("question=aardvark", stranger.owner);
    expect(first).toMatchObject({ data: [], has_more: true });
    const second = await list(`question=aardvark&after=${first.next_after}`, stranger.owner);
    expect(second).toMatchObject({ data: [{ id: oldest }], has_more: false, next_after: null });
  });

  test("are counted by model and status, on all pages and for the filters that are sent", async () => {
    const all = (await list("limit=500")).data;
    const countOf = (model: string, status: string) =>
      all.filter((turn: any) => turn.model === model && turn.status === status).length;
    const { data, counts, counts_complete } = await list("counts=model&limit=1");
    expect([data.length, counts_complete]).toEqual([1, true]);
    expect(counts.length).toBeGreaterThan(1);
    expect(counts.map(({ turns }: any) => turns)).toEqual(
      counts.map(({ model, status }: any) => countOf(model, status)),
    );
    expect(counts.reduce((sum: number, { turns }: any) => sum + turns, 0)).toBe(all.length);
    expect((await list("counts=model&status=failed")).counts).toEqual([
      { model: "offline/scripted", status: "failed", turns: countOf("offline/scripted", "failed") },
    ]);
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
    expect(await list(`counts=model&from=${tomorrow}`)).toMatchObject({ counts: [], counts_complete: true });
    expect((await list("counts=model&status=failed", stranger.owner)).counts).toEqual([]);
    expect(await list()).not.toHaveProperty("counts");
    expectRefusal(await tenant.owner("GET", "/turns?counts=model&question=Hi"), 400, undefined, "counts");
    expectRefusal(await tenant.owner("GET", "/turns?counts=day"), 400, undefined, "counts");
  });

  test("are reported as partly counted if only the newest were counted, even if none of these matches", async () => {
    const { db } = service.opened;
    const none = { principal: null, model: null, agent_id: null, thread_id: null, scopes: null, error: null };
    const count = (status: "running" | null, most: number) =>
      countRequests(db, tenant.credentials.organization_id, { ...none, status, from: null, to: null }, most);
    const all = (await list("limit=500")).data.length;
    expect((await count(null, all)).isWhole).toBe(true);
    expect((await count(null, all - 1)).isWhole).toBe(false);
    expect(await count("running", all - 1)).toEqual({ counts: [], isWhole: false });
  });

  test("come in pages without a gap", async () => {
    const all = await ids();
    const seen: string[] = [];
    for (let after: string | null = ""; after !== null; ) {
      const page: any = await list(`limit=2&after=${after}`);
      expect(page.has_more).toBe(page.next_after !== null);
      seen.push(...page.data.map(({ id }: { id: string }) => id));
      after = page.next_after;
    }
    expect(seen).toEqual(all);
  });

  test("exclude deleted ones, and include those that the provider refused", async () => {
    const answer = await ask("Forget me");
    const thread = answer.headers.get("x-thread-id");
    expect((await ids())[0]).toBe(idOf(answer));
    await tenant.made(tenant.key("DELETE", `/openai/v1/threads/${thread}`));
    expect(await ids()).not.toContain(idOf(answer));
    expect((await ask("/fail 400", { model: "offline/scripted" })).status).toBe(502);
    expect((await list()).data[0]).toMatchObject({ status: "refused", question: null, usage: null });
  });

  test("of other organizations are never listed", async () => {
    const own = await ids();
    expect((await ids("limit=500", stranger.owner)).filter((id) => own.includes(id))).toEqual([]);
    expect(await ids(`principal=${(await list()).data[0].principal}`, stranger.owner)).toEqual([]);
  });
});

describe("access to requests", () => {
  test("builders see requests and traces of everybody, approvers and viewers only their own", async () => {
    const [builder, approver, viewer] = [
      await tenant.member("builder"),
      await tenant.member("approver"),
      await tenant.member("viewer"),
    ];
    const own = idOf(await ask("Mine", {}, approver.call));
    const others = await ids();
    const trace = (id: string, { call }: { call: Client }) => call("GET", `/turns/${id}/trace`);
    expect(await ids("", builder.call)).toEqual(others);
    expect((await trace(own, builder)).body).toMatchObject({ id: own, prompt: { messages: [{ text: "Mine" }] } });

    expect(await ids("", approver.call)).toEqual([own]);
    expect(await ids(`principal=key:${UNKNOWN}`, approver.call)).toEqual([]);
    expect((await trace(own, approver)).status).toBe(200);
    const foreign = others.find((id) => id !== own)!;
    expect((await trace(foreign, approver)).text).toBe((await trace(UNKNOWN, approver)).text);

    expect(await ids("", viewer.call)).toEqual([]);
    expectRefusal(await trace(own, viewer), 404, "turn_not_found", "id");
  });
});
