import { beforeAll, describe, expect, test } from "vitest";
import { expectRefusal, UNKNOWN } from "../hostile/target.ts";
import { say, startService } from "../http/service.ts";
import { openTenant, type Client, type Tenant } from "../workflows/tenant.ts";

/* GET /api/turns: the requests of an organization to models. */

let tenant: Tenant;
let stranger: Tenant;
beforeAll(async () => {
  const service = await startService();
  tenant = await openTenant(service.base, await service.organization("Asking"));
  stranger = await openTenant(service.base, await service.organization("Stranger"));
});

const ask = async (text: string, more: object = {}, by: Client = tenant.key) =>
  by("POST", "/openai/v1/chat/completions", say(text, { ...more }));
const idOf = ({ body }: { body: any }): string => body.id.replace("chatcmpl-", "");
const list = async (query = "", by: Client = tenant.owner): Promise<any> => tenant.made(by("GET", `/turns?${query}`));
const ids = async (query = "", by?: Client): Promise<string[]> =>
  (await list(query, by)).data.map(({ id }: { id: string }) => id);

describe("the requests of an organization", () => {
  test("come newest first, with what was asked, by whom and how it ended", async () => {
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

  test("do not include deleted ones, and include those that the provider refused", async () => {
    const answer = await ask("Forget me");
    const thread = answer.headers.get("x-thread-id");
    expect((await ids())[0]).toBe(idOf(answer));
    await tenant.made(tenant.key("DELETE", `/openai/v1/threads/${thread}`));
    expect(await ids()).not.toContain(idOf(answer));
    expect((await ask("/fail 400", { model: "offline/scripted" })).status).toBe(502);
    expect((await list()).data[0]).toMatchObject({ status: "refused", question: null, usage: null });
  });

  test("of other organizations are never listed, and a key is refused", async () => {
    expect(await ids("", stranger.owner)).toEqual([]);
    expect(await ids(`principal=${(await list()).data[0].principal}`, stranger.owner)).toEqual([]);
    expectRefusal(await tenant.key("GET", "/turns"), 403, "session_required");
  });
});

describe("who may see them", () => {
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
