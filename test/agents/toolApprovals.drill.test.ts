import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openInspector } from "../bus/streams.ts";
import { expectRefusal } from "../hostile/target.ts";
import { clientOf } from "../http/service.ts";
import { SOON } from "../soon.ts";
import { openSite, type Site } from "../tools/site.ts";
import { toolSource } from "../tools/desk.ts";
import type { AgentClient } from "./agents.ts";
import { startProcesses, type Processes } from "./deployment.ts";
import { eventsIn, expectStream } from "./grammar.ts";
import { openPayDesk, payTo, responses, type PayDesk } from "./payDesk.ts";

/* Calls that wait for a person: time limits of requests, other processes, and processes that die (ADR 48). */

const { read, ended } = responses;

describe("the time limit of a request", () => {
  let desk: PayDesk;
  beforeAll(async () => {
    desk = await openPayDesk({ TURN_SECONDS: "5", ORGANIZATION_PARKED_TURNS: "2" });
  });
  afterAll(() => desk.site.close());

  test("ends the request with the response in progress; a repetition finds the response, and a decision completes it", async () => {
    const agent = await desk.payer();
    const response = await agent.post({ input: payTo("hal") }, { "idempotency-key": "hal" });
    expect(response.body).toMatchObject({ status: "in_progress", pending_approvals: [{ name: "pay" }] });
    const { id, pending_approvals } = response.body;
    const again = await agent.post({ input: payTo("hal") }, { "idempotency-key": "hal" });
    expect(again.body).toEqual(response.body);
    await desk.decide(pending_approvals[0].id, "approve");
    expect(await ended(agent, id)).toMatchObject({ status: "completed", error: null });
    expect(desk.paid("hal")).toBe(1);
  });

  test("also ends a request that repeats a waiting call, while a stream starts at once", async () => {
    const agent = await desk.payer();
    const { id, approvals } = await desk.startWaiting(agent, payTo("joy"));
    const input = [{ type: "function_call_output", call_id: approvals[0].tool_call.call_id, output: "{}" }];
    const buffered = await agent.post({ input });
    expect([buffered.status, buffered.body]).toMatchObject([200, { id, status: "in_progress", output: [] }]);
    const streamed = await fetch(`${agent.base}/responses`, {
      method: "POST",
      headers: { authorization: `Bearer ${desk.api_key}`, "content-type": "application/json" },
      body: JSON.stringify({ input, stream: true }),
    });
    expect(streamed.headers.get("content-type")).toMatch(/^text\/event-stream/);
    await desk.decide(approvals[0].id, "approve");
    const response = expectStream(eventsIn(await streamed.text()));
    expect(response).toMatchObject({ id, status: "completed" });
    expect(response.output.map(({ type }: any) => type)).toEqual(["message"]);
    expect((await agent.ask(input)).output).toEqual(response.output);
    expect(desk.paid("joy")).toBe(1);
  });

  test("lets the next turn of the thread know that a call waits", async () => {
    const agent = await desk.payer();
    const { id, thread_id } = await desk.startWaiting(agent, payTo("gus"));
    const busy = await agent.post({ input: "Hello" }, { "x-thread-id": thread_id });
    expectRefusal(busy, 409, "thread_busy");
    expect(busy.body.error.message).toMatch(/waits for the approval of a tool call/);
    await agent.call("POST", `/responses/${id}/cancel`);
  });

  test("does not apply to turns above the organization's share: their calls do not run, and the model reads why", async () => {
    const agent = await desk.payer();
    const waiting = [await desk.startWaiting(agent, payTo("ivy")), await desk.startWaiting(agent, payTo("ivy"))];
    const { output } = await agent.ask(payTo("ivy"));
    expect(output[0]).toMatchObject({ type: "function_call", status: "incomplete" });
    expect(desk.paid("ivy")).toBe(0);
    for (const { id } of waiting) await agent.call("POST", `/responses/${id}/cancel`);
  });
});

describe("in a deployment of several processes", () => {
  let processes: Processes;
  let site: Site;
  let agent: AgentClient;
  let elsewhere: AgentClient;
  let worker: Awaited<ReturnType<Processes["start"]>>;
  /** Answers of the site wait for this. */
  let gate = Promise.resolve();
  const paid = (to: string) => site.paths.filter((path) => path === `/paid/${to}`).length;

  beforeAll(async () => {
    site = await openSite((_, response) => void gate.then(() => response.end('{"paid":true}')));
    processes = await startProcesses({ PRIVATE_FETCH_HOSTS: site.host });
    worker = processes.worker;
    const { call } = processes.person;
    const source = toolSource(`const answer = await fetch("${site.url}/paid/" + args.to); return answer.json();`);
    const tool = await call("POST", "/definitions", { type: "tool", name: "pay", source });
    expect(tool.status, tool.text).toBe(201);
    const body = { name: "Payer", model: "offline/scripted", tools: ["pay"], tool_approvals: { pay: "always" } };
    const made = await call("POST", "/agents", body);
    expect(made.status, made.text).toBe(201);
    const second = await processes.start("http");
    agent = processes.at(processes.home.url, made.body.id);
    elsewhere = processes.at(second.url, made.body.id);
  });
  afterAll(() => site.close());

  /** A response that waits, and its approval. */
  async function startWaiting(to: string) {
    const opened = (seen: any[]) => seen.some(({ type }) => type === "response.function_call_arguments.done");
    const seen = await agent.some("/responses", { input: payTo(to), stream: true }, opened);
    const { id } = seen[0].response;
    await expect.poll(async () => (await read(agent, id)).pending_approvals, SOON).toHaveLength(1);
    return { id: id as string, approval: (await read(agent, id)).pending_approvals[0].id as string, seen };
  }
  const approve = (approval: string) =>
    processes.person.call("POST", `/workflows/approvals/${approval}/decision`, { decision: "approve" });
  /** Kills the process that works on turns, and starts another one. */
  async function replaceWorker() {
    worker.kill();
    await worker.ended;
    worker = await processes.start("services");
  }
  const outputOf = async (id: string): Promise<string> =>
    (await processes.person.call("GET", `/turns/${id}/trace`)).body.rounds[0].calls[0].output;

  test("a parked turn survives the death of its process and continues in another", async () => {
    const { id, approval, seen } = await startWaiting("ann");
    await replaceWorker();
    expect((await approve(approval)).status).toBe(200);
    expect((await ended(elsewhere, id)).status).toBe("completed");
    expect(paid("ann")).toBe(1);
    const whole = await elsewhere.resume(id);
    expectStream(whole);
    expect(whole.slice(0, seen.length)).toEqual(seen);
  });

  test("a stream continues in another process after the bus has dropped its frames", async () => {
    const { id, approval, seen } = await startWaiting("bea");
    const { addresses, prefix } = processes.deployment;
    const inspector = await openInspector({ url: addresses.nats_url, prefix });
    await inspector.jsm.streams.purge(inspector.names.streams.frames);
    await inspector.close();
    const shown = await elsewhere.some(
      `/responses/${id}?stream=true`,
      undefined,
      ({ length }) => length >= seen.length,
    );
    expect(shown.slice(0, seen.length)).toEqual(seen);
    const rest = elsewhere.resume(id, seen.length - 1);
    await approve(approval);
    const whole = [...seen, ...(await rest)];
    expectStream(whole);
    expect(await agent.resume(id)).toEqual(whole);
  });

  test.each([1, 2, 3])("a process that dies right after the decision runs the tool at most once (%i)", async (n) => {
    const { id, approval } = await startWaiting(`cat${n}`);
    expect((await approve(approval)).status).toBe(200);
    await replaceWorker();
    const { status, error } = await ended(agent, id);
    const times = paid(`cat${n}`);
    expect(times).toBeLessThanOrEqual(1);
    // words that readers have and the log lacks cannot be generated again: the kill came after the tool, during the answer
    if (status === "failed") {
      expect(error.message).toBe("The process that worked on this turn was lost.");
      expect(times).toBe(1);
    } else expect({ status, error }).toEqual({ status: "completed", error: null });
    // it ran, or the model reads that this is not known
    if (times === 0) expect(await outputOf(id)).toMatch(/not known whether the call took effect/);
  });

  test("a tool is not run again after its process dies during the call", async () => {
    let open = () => {};
    gate = new Promise((resolve) => (open = resolve));
    const { id, approval } = await startWaiting("dan");
    await approve(approval);
    await expect.poll(() => paid("dan"), SOON).toBe(1);
    await replaceWorker();
    expect(await ended(agent, id)).toMatchObject({ status: "completed", error: null });
    open();
    expect(paid("dan")).toBe(1);
    expect(await outputOf(id)).toMatch(/not known whether the call took effect/);
  });

  test("simultaneous decisions of two people in two processes count as one decision", async () => {
    gate = Promise.resolve();
    const { id, approval } = await startWaiting("eve");
    const other = (
      await processes.person.call("POST", "/members", { email: "o@example.org", name: "O", role: "admin" })
    ).body;
    const login = { email: "o@example.org", password: other.password };
    const anyone = clientOf({ chat: `${elsewhere.base.split("/api/")[0]}/api` }, "none");
    const { token } = (await anyone("POST", "/auth/login", login)).body;
    const second = clientOf({ chat: `${elsewhere.base.split("/api/")[0]}/api` }, token);
    const answers = await Promise.all([
      approve(approval),
      second("POST", `/workflows/approvals/${approval}/decision`, { decision: "reject" }),
    ]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    await ended(agent, id);
    expect(paid("eve")).toBe(answers[0].status === 200 ? 1 : 0);
  });
});
