import { afterAll, describe, expect, test, vi } from "vitest";
import { StorageUnavailable } from "#events/ports.ts";
import { expectRefusal } from "../hostile/target.ts";
import { clientOf } from "../http/service.ts";
import { jsonLines } from "../jsonLines.ts";
import { eventsIn, expectStream } from "./grammar.ts";
import { openPayDesk, payTo, responses, type Payer } from "./payDesk.ts";

/* Calls of an agent's tool that wait for a person (ADR 48). */

const desk = await openPayDesk();
afterAll(() => desk.site.close());

const startWaiting = (agent: Payer, input: string) => desk.startWaiting(agent, input);
const { read, ended } = responses;

describe("a call that waits", () => {
  test("appears in the inbox with its arguments, and runs once after the approval", async () => {
    const agent = await desk.payer();
    const { id, thread_id, approvals, seen } = await startWaiting(agent, payTo("ann"));
    const me = (await desk.person.call("GET", "/auth/me")).body.user;
    expect(approvals).toEqual([
      expect.objectContaining({
        run_id: null,
        workflow_id: null,
        name: "pay",
        title: "Run the tool pay",
        status: "pending",
        form: null,
        assignees: [],
        tool_call: {
          response_id: id,
          thread_id,
          agent: { id: agent.id, name: "A" },
          call_id: expect.any(String),
          tool: "pay",
          arguments: '{"to":"ann","amount":100}',
          asked_by: { type: "api_key", id: expect.any(String), name: expect.any(String) },
        },
      }),
    ]);
    const waiting = await read(agent, id);
    expect(waiting).toMatchObject({
      status: "in_progress",
      output: [{ type: "function_call", name: "pay", status: "in_progress" }],
      pending_approvals: [{ id: approvals[0].id, name: "pay", call_id: waiting.output[0].call_id }],
    });
    expect(desk.paid("ann")).toBe(0);
    const decided = await desk.decide(approvals[0].id, "approve", "Fine.");
    expect(decided.body).toMatchObject({
      status: "approved",
      comment: "Fine.",
      decided_by: { type: "person", id: me.id },
      run_status: null,
    });
    const response = await ended(agent, id);
    expect(response).toMatchObject({
      status: "completed",
      output: [
        { type: "function_call", status: "completed" },
        { type: "message", content: [{ text: "Done." }] },
      ],
    });
    expect(response).not.toHaveProperty("pending_approvals");
    expect(desk.paid("ann")).toBe(1);
    // the stream continues where the client left it, and is the same when read from its start
    const rest = await agent.resume(id, seen.length - 1);
    expectStream([...seen, ...rest]);
    expect(await agent.resume(id)).toEqual([...seen, ...rest]);
  });

  test("does not run after a rejection, and the model reads the comment", async () => {
    const agent = await desk.payer();
    const { id, approvals } = await startWaiting(agent, payTo("bob"));
    await desk.decide(approvals[0].id, "reject", "Bob left.");
    expect((await ended(agent, id)).output[0]).toMatchObject({ type: "function_call", status: "incomplete" });
    const trace = (await desk.person.call("GET", `/turns/${id}/trace`)).body;
    expect(trace.rounds[0].calls[0]).toMatchObject({
      status: "failed",
      output: expect.stringContaining("The person said: Bob left."),
      approval: { id: approvals[0].id, status: "rejected", comment: "Bob left.", decided_by: { type: "person" } },
    });
    expect(desk.paid("bob")).toBe(0);
  });

  test("does not run if nobody decides in time", async () => {
    const agent = await desk.payer({ expires_in_seconds: 1 });
    const { id, approvals } = await startWaiting(agent, payTo("cat"));
    expect((await ended(agent, id)).status).toBe("completed");
    const { body } = await desk.person.call("GET", `/workflows/approvals/${approvals[0].id}`);
    expect(body.status).toBe("expired");
    expectRefusal(await desk.decide(approvals[0].id, "approve"), 409, "approval_not_pending");
    expect(desk.paid("cat")).toBe(0);
  });

  test("breaks its stream off when the stored output cannot be read, and the stream can be continued", async () => {
    const agent = await desk.payer();
    const { id, approvals, seen } = await startWaiting(agent, payTo("gil"));
    const last = seen.length - 1;
    const away = new StorageUnavailable("The disk is away.");
    const get = vi.spyOn(desk.platform.resources.blobs, "get").mockRejectedValueOnce(away);
    const { text } = await agent.call("GET", `/responses/${id}?stream=true&starting_after=${last}`);
    get.mockRestore();
    expect(eventsIn(text)).toMatchObject([{ type: "error", code: "unavailable", sequence_number: last }]);
    await desk.decide(approvals[0].id, "reject");
    expectStream([...seen, ...(await agent.resume(id, last))]);
  });

  test("waits only if the condition of its rule applies", async () => {
    const agent = await desk.payer({ when: { argument: "amount", above: 100 } });
    expect((await agent.ask(payTo("dan"))).status).toBe("completed");
    expect(desk.paid("dan")).toBe(1);
    const more = payTo("dan").replace("100", "101");
    expect((await startWaiting(agent, more)).approvals).toHaveLength(1);
  });

  test("together with others continues when all are decided", async () => {
    const agent = await desk.payer();
    const { id, approvals } = await startWaiting(agent, payTo("eve", "fay"));
    expect(approvals.map(({ tool_call }) => JSON.parse(tool_call.arguments).to)).toEqual(["eve", "fay"]);
    await desk.decide(approvals[0].id, "approve");
    expect((await read(agent, id)).pending_approvals).toHaveLength(1);
    await desk.decide(approvals[1].id, "reject");
    await ended(agent, id);
    expect([desk.paid("eve"), desk.paid("fay")]).toEqual([1, 0]);
  });
});

describe("a buffered request", () => {
  test("gets the answer if the decision comes in time", async () => {
    const agent = await desk.payer();
    const answer = agent.ask(payTo("ida"));
    const pending = async () => {
      const { body } = await desk.person.call("GET", "/workflows/approvals?status=pending&limit=500");
      return body.data.find(({ tool_call }: any) => tool_call?.arguments?.includes('"ida"'))?.id;
    };
    await expect.poll(pending, { timeout: 20_000 }).toBeDefined();
    await desk.decide(await pending(), "approve");
    expect((await answer).status).toBe("completed");
  });
});

describe("a decision is refused", () => {
  test("by viewers, by API keys, and by people who are not assigned", async () => {
    const [viewer, approver, assigned] = [
      await desk.member("viewer"),
      await desk.member("approver"),
      await desk.member("approver"),
    ];
    const agent = await desk.payer({ assignees: [{ person: assigned.email }] });
    const { approvals } = await startWaiting(agent, payTo("joe"));
    const { id } = approvals[0];
    expectRefusal(await desk.decide(id, "approve", undefined, approver), 403, "approver_not_allowed");
    const key = { call: clientOf({ chat: `${desk.url}/api` }, desk.api_key) };
    expectRefusal(await desk.decide(id, "approve", undefined, key), 403, "approver_not_allowed");
    // people who may not decide cannot read what others wrote
    expectRefusal(await desk.decide(id, "approve", undefined, viewer), 404, "approval_not_found");
    expect((await viewer.call("GET", "/workflows/approvals")).body.data).toEqual([]);
    const other = { call: clientOf({ chat: `${desk.url}/api` }, (await desk.key()).key) };
    expectRefusal(await other.call("GET", `/workflows/approvals/${id}`), 404, "approval_not_found");
    expect((await desk.decide(id, "approve", undefined, assigned)).status).toBe(200);
    const mine = async (by: typeof assigned): Promise<string[]> =>
      (await by.call("GET", "/workflows/approvals?mine=true&limit=500")).body.data.map((each: any) => each.id);
    expect(await mine(assigned)).toContain(id);
    expect(await mine(approver)).not.toContain(id);
  });
  test("by the person who asked the agent, if the rule says so", async () => {
    const agent = await desk.payer({ self_approval: false }, {}, desk.person.token);
    const { approvals } = await startWaiting(agent, payTo("kim"));
    expectRefusal(await desk.decide(approvals[0].id, "approve"), 403, "approver_not_allowed");
    const admin = await desk.member("admin");
    expect((await desk.decide(approvals[0].id, "approve", undefined, admin)).status).toBe(200);
  });
  test("but not by an API key that the rule allows", async () => {
    const agent = await desk.payer({ allow_api_key: true });
    const { id, approvals } = await startWaiting(agent, payTo("lea"));
    const key = { call: clientOf({ chat: `${desk.url}/api` }, desk.api_key) };
    expect((await desk.decide(approvals[0].id, "approve", undefined, key)).status).toBe(200);
    await ended(agent, id);
  });
});

describe("an approval ends with its response", () => {
  const statusOf = async (id: string) => {
    const { status, body } = await desk.person.call("GET", `/workflows/approvals/${id}`);
    return status === 200 ? body.status : body.error.code;
  };
  test("if the response is cancelled", async () => {
    const agent = await desk.payer();
    const { id, approvals } = await startWaiting(agent, payTo("max"));
    expect((await agent.call("POST", `/responses/${id}/cancel`)).body).toMatchObject({
      status: "cancelled",
      output: [{ type: "function_call", status: "incomplete" }],
    });
    expect(await statusOf(approvals[0].id)).toBe("cancelled");
    expectRefusal(await desk.decide(approvals[0].id, "approve"), 409, "approval_not_pending");
    expect(desk.paid("max")).toBe(0);
  });
  test("if a response of an alias is cancelled, whose tokens count for the model that answered", async () => {
    const [model, targets] = ["paying", [{ model: "offline/scripted" }, { model: "offline/echo" }]];
    expect((await desk.person.call("PUT", `/aliases/${model}`, { targets })).status).toBe(200);
    const agent = await desk.payer("always", { model });
    const { id } = await startWaiting(agent, payTo("moe"));
    const { body } = await agent.call("POST", `/responses/${id}/cancel`);
    expect(body).toMatchObject({ status: "cancelled", model: "offline/scripted" });
    expect(body.usage.total_tokens).toBeGreaterThan(0);
  });
  test("if the response or its thread is deleted", async () => {
    const agent = await desk.payer();
    const first = await startWaiting(agent, payTo("ned"));
    expect((await agent.call("DELETE", `/responses/${first.id}`)).status).toBe(200);
    expect(await statusOf(first.approvals[0].id)).toBe("approval_not_found");
    const second = await startWaiting(agent, payTo("ned"));
    const deleted = await desk.person.call("DELETE", `/threads/${second.thread_id}`);
    expect(deleted.status, deleted.text).toBe(200);
    await expect.poll(() => statusOf(second.approvals[0].id), { timeout: 20_000 }).toBe("approval_not_found");
    expectRefusal(await desk.decide(second.approvals[0].id, "approve"), 404, "approval_not_found");
  });
});

test("a response whose agent is deleted fails, and nobody can decide its approval", async () => {
  const agent = await desk.payer();
  const { id, approvals } = await startWaiting(agent, payTo("pat"));
  expect((await desk.person.call("DELETE", `/agents/${agent.id}`)).status).toBe(204);
  const trace = async () => (await desk.person.call("GET", `/turns/${id}/trace`)).body;
  await expect.poll(async () => (await trace()).status, { timeout: 20_000 }).toBe("failed");
  expect(await trace()).toMatchObject({
    answer: { error: expect.stringMatching(/^The agent was deleted/) },
    rounds: [{ calls: [{ approval: { status: "cancelled" } }] }],
  });
  expectRefusal(await desk.decide(approvals[0].id, "approve"), 409, "approval_not_pending");
  expect(desk.paid("pat")).toBe(0);
  await expect.poll(() => desk.count("AgentTurnsEnded"), { timeout: 20_000 }).toBe(1);
});

describe("the approval setting of an agent", () => {
  test("has defaults, and can name only tools of the agent and groups with active members", async () => {
    const { id } = await desk.payer();
    const left = await desk.member("approver");
    expect((await desk.person.call("PUT", "/groups/left", { members: [left.id] })).status).toBe(200);
    expect((await desk.person.call("PATCH", `/members/${left.id}`, { active: false })).status).toBe(200);
    const path = `/agents/${id}`;
    expect((await desk.person.call("GET", path)).body.tool_approvals).toEqual({
      pay: { assignees: [], self_approval: true, allow_api_key: false, expires_in_seconds: null, when: null },
    });
    const change = (body: object) => desk.person.call("PATCH", path, body);
    expectRefusal(await change({ tool_approvals: { pey: "always" } }), 400, "unknown_tool", "tool_approvals.pey");
    for (const rule of ["never", { expires_in_seconds: 604_801 }, { when: { argument: "a" } }, { often: true }])
      expect((await change({ tool_approvals: { pay: rule } })).status).toBe(400);
    for (const group of ["nobody", "Left"])
      expectRefusal(
        await change({ tool_approvals: { pay: { assignees: [{ role: "owner" }, { group }] } } }),
        400,
        undefined,
        "tool_approvals.pay.assignees",
      );
    expect((await change({ instructions: "Pay." })).body.tool_approvals).toHaveProperty("pay");
    expect((await change({ tool_approvals: {} })).body).toMatchObject({ tool_approvals: {}, version: 3 });
    await desk.person.call("PATCH", `/members/${left.id}`, { active: true });
    const assignees = [{ group: "Left" }];
    const changed = await change({ tool_approvals: { pay: { assignees } } });
    expect(changed.body.tool_approvals.pay).toMatchObject({ assignees });
  });
});

test("a stream that was open all the time shows one call and its result", async () => {
  const agent = await desk.payer();
  const answer = agent.post({ input: payTo("oli"), stream: true });
  const pending = async () => {
    const { body } = await desk.person.call("GET", "/workflows/approvals?status=pending&limit=500");
    return body.data.find(({ tool_call }: any) => tool_call?.arguments?.includes('"oli"'))?.id;
  };
  await expect.poll(pending, { timeout: 20_000 }).toBeDefined();
  await desk.decide(await pending(), "approve");
  const response = expectStream(eventsIn((await answer).text));
  expect(response.output.map(({ type }: any) => type)).toEqual(["function_call", "message"]);
});

test("the export of a person who decided contains the results of their own calls, but not of other people's calls", async () => {
  const me = (await desk.person.call("GET", "/auth/me")).body.user.id;
  const [foreign, own] = [await desk.payer(), await desk.payer("always", {}, desk.person.token)];
  const asked = [await startWaiting(foreign, payTo("quinn")), await startWaiting(own, payTo("rob"))];
  for (const { approvals } of asked) await desk.decide(approvals[0].id, "approve");
  await Promise.all([ended(foreign, asked[0]!.id), ended(own, asked[1]!.id)]);
  const { status, text } = await desk.person.call("GET", `/exports?subject=person:${me}`);
  expect(status).toBe(200);
  const lines = jsonLines(text);
  const saidIn = ({ approvals }: { approvals: any[] }) =>
    lines.find(({ type, id }) => type === "approval" && id === approvals[0].id).tool_call.arguments;
  expect(asked.map(saidIn)).toEqual([null, '{"to":"rob","amount":100}']);
  expect(text).not.toContain("quinn");
});
