import { describe, expect, test } from "vitest";
import { newId, streamName } from "#events/ids.ts";
import { TakeOverTurn } from "#events/thread.ts";
import { startAgents, TOOL } from "../agents/agents.ts";
import { clientOf } from "../http/service.ts";
import { expectRefusal, UNKNOWN } from "../hostile/target.ts";
import { startTurn } from "../startTurn.ts";
import { ALONE } from "../sharedPlatform.ts";

/* GET /api/turns/{id}/trace: the course of a turn, read from the log alone. */

const agents = await startAgents(ALONE);
const chat = clientOf({ chat: agents.base_url }, agents.api_key);

const read = (id: string) => agents.person.call("GET", `/turns/${id}/trace`);
const trace = async (id: string): Promise<any> => {
  const { status, body, text } = await read(id);
  expect(status, text).toBe(200);
  return body;
};
const toolsOf = (...names: string[]) => names.map((name) => ({ type: "function", function: { name } }));
const user = (content: unknown) => ({ role: "user", content });
const complete = (messages: unknown[], more: object = {}, headers?: Record<string, string>) =>
  chat("POST", "/chat/completions", { model: "openai/gpt-test", messages, ...more }, headers);

describe("the trace of a chat turn", () => {
  test("contains the prompt as the provider received it, and the rounds, tool calls, tokens and times", async () => {
    agents.answers({ text: "Earlier answer." });
    const earlier = await complete([user("Earlier question")], { user: "ada" });
    const calls = [
      { name: TOOL, arguments: { text: "in" } },
      { name: "none", arguments: "{" },
    ];
    agents.answers({ text: "Let me see.", reasoning: "Hm.", tool_calls: calls }, { text: "All done." });
    const options = {
      user: "ada",
      temperature: 0.5,
      max_tokens: 99,
      stop: ["END"],
      tools: toolsOf(TOOL),
      metadata: { tier: "gold" },
    };
    const { body, headers } = await complete([{ role: "system", content: "Be brief." }, user("Now")], options, {
      "x-thread-id": earlier.headers.get("x-thread-id")!,
    });
    const turn = await trace(body.id);
    expect(turn).toMatchObject({
      id: body.id.replace("chatcmpl-", ""),
      thread_id: headers.get("x-thread-id"),
      status: "completed",
      model: "openai/gpt-test",
      agent: null,
      streamed: false,
      principal: expect.stringMatching(/^key:/),
      request_id: headers.get("x-request-id"),
      attempts: [{ attempt: 1, worker: expect.any(String), at: turn.started_at }],
      usage: { prompt_tokens: 24, completion_tokens: 14 },
      answer: { text: "Let me see.\n\nAll done.", reasoning: "Hm.", finish_reason: "stop", error: null },
    });
    expect(turn.events.map(({ type }: any) => type)).toEqual([
      "TurnStarted",
      "RoundRequested",
      "ToolFinished",
      "ToolFinished",
      "TurnCompleted",
    ]);
    const [{ cursor }] = turn.events;
    const { body: log } = await agents.person.call("GET", `/events?after=${cursor}&limit=1`);
    expect(log.data[0]).toMatchObject({ type: "RoundRequested", cursor: turn.events[1].cursor });
    expect(turn.duration_ms).toBe(Date.parse(turn.ended_at) - Date.parse(turn.started_at));
    expect(turn.prompt).toMatchObject({
      instructions: "Be brief.",
      temperature: 0.5,
      max_output_tokens: 99,
      stop: ["END"],
      user: "ada",
      vars: { tier: "gold" },
      tools: [TOOL],
      tool_choice: "auto",
      forgotten_turns: 0,
    });
    const { messages, temperature } = agents.asked();
    expect(temperature).toBe(turn.prompt.temperature);
    const sent = messages.filter(({ role }: any) => role === "user" || role === "assistant").slice(0, 3);
    expect(turn.prompt.messages.map(({ role, text }: any) => [role, text])).toEqual(
      sent.map(({ role, content }: any) => [role, typeof content === "string" ? content : content[0].text]),
    );
    expect(turn.prompt.messages.at(-1)).toMatchObject({ text: "Now", turn_id: turn.id, attachments: [] });
    const [round] = turn.rounds;
    expect(turn.rounds).toHaveLength(1);
    expect(round).toMatchObject({
      round: 0,
      attempt: 1,
      text: "Let me see.",
      reasoning: "Hm.",
      usage: { prompt_tokens: 12, completion_tokens: 7 },
      calls: [
        { name: TOOL, arguments: '{"text":"in"}', status: "completed", attempt: 1, sources: [] },
        { name: "none", arguments: "{", status: "failed" },
      ],
    });
    const results = messages.filter(({ role }: any) => role === "tool").map(({ content }: any) => content);
    expect(round.calls.map(({ output }: any) => output)).toEqual(results);
    for (const { duration_ms, ended_at } of round.calls) {
      expect(duration_ms).toBeGreaterThanOrEqual(0);
      expect(Date.parse(ended_at)).toBeGreaterThanOrEqual(Date.parse(round.at));
    }
  });

  test("contains the metadata of attachments, and long texts that are stored as blobs", async () => {
    agents.answers({ text: "Seen." });
    const long = `${"A long question. ".repeat(20_000)}?`;
    const png = { type: "file", file: { filename: "a.txt", file_data: `data:text/plain;base64,${btoa("words")}` } };
    const { body } = await complete([user([{ type: "text", text: long }, png])]);
    const { prompt } = await trace(body.id);
    expect(prompt.messages).toEqual([
      {
        role: "user",
        text: long,
        turn_id: expect.any(String),
        attachments: [
          {
            filename: "a.txt",
            mime_type: "text/plain",
            bytes: 5,
            sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
          },
        ],
      },
    ]);
  });

  test("contains the error of a failed turn", async () => {
    const failing = { model: "offline/scripted", stream: true };
    const { text } = await complete([user("/say some words here\n/cut")], failing);
    const turn = await trace(/"id":"(chatcmpl-[^"]+)"/.exec(text)![1]!);
    expect(turn).toMatchObject({ status: "failed", streamed: true, answer: { finish_reason: null } });
    expect(turn.answer.error).toMatch(/broke off/);
    expect(turn.answer.text).not.toBe("");
    expect(turn.usage.completion_tokens).toBeGreaterThan(0);
  });

  test("is gone once the turn is deleted, and the trace of the next turn counts it as forgotten", async () => {
    const agent = await agents.open({ model: "offline/echo" });
    const first = await agent.ask("First");
    const second = await agent.ask("Second", { previous_response_id: first.id });
    expect((await trace(second.id)).prompt.messages).toHaveLength(3);
    await agent.call("DELETE", `/responses/${first.id}`);
    const { prompt } = await trace(second.id);
    expect([prompt.messages.map(({ text }: any) => text), prompt.forgotten_turns]).toEqual([["Second"], 1]);
    expectRefusal(await read(first.id), 404, "turn_not_found", "id");
    const third = await agent.ask("Third", { previous_response_id: second.id });
    expect((await trace(third.id)).prompt.forgotten_turns).toBe(0);
  });
});

test("the trace of an agent's turn contains the agent's version, instructions and settings", async () => {
  const settings = { model: "offline/scripted", instructions: "Be kind.", tools: [TOOL], reasoning: { effort: "low" } };
  const agent = await agents.open(settings);
  const response = await agent.ask(`/tool ${TOOL} {"fail":true}\n/say Sorry.`, { instructions: "And brief." });
  const turn = await trace(response.id);
  expect(turn).toMatchObject({
    agent: { id: expect.any(String), version: 1 },
    prompt: { instructions: "Be kind.\n\nAnd brief.", reasoning_effort: "low", tools: [TOOL] },
    rounds: [{ calls: [{ name: TOOL, status: "failed", output: expect.stringContaining("failed on request") }] }],
    answer: { text: "Sorry." },
  });
  expect(turn.usage.prompt_tokens + turn.usage.completion_tokens).toBe(response.usage.total_tokens);
});

test("the trace of a running turn contains its attempts and the records so far", async () => {
  const { resources: opened } = agents.platform;
  const { id: organization_id } = (await agents.person.call("GET", "/auth/me")).body.organization;
  const command = startTurn("/slow 30\n/say late", { organization_id, model: "offline/scripted" });
  const sender = opened.bus.sender(opened.log);
  await sender.send(command);
  const { turn_id } = command.data;
  const taken = { turn_id, attempt: 2, worker: newId() };
  await sender.send({ ...command, id: `${"b".repeat(64)}`, type: TakeOverTurn.type, data: taken });
  const turn = await trace(turn_id);
  expect(turn).toMatchObject({
    status: "running",
    principal: "system",
    ended_at: null,
    duration_ms: null,
    answer: null,
    rounds: [],
    usage: { prompt_tokens: 0, completion_tokens: 0 },
    attempts: [{ attempt: 1 }, { attempt: 2, worker: taken.worker }],
  });
  expect(turn.thread_id).toBe(command.stream.slice(streamName("thread", "").length));
});

test("a trace is found by its id in any case, and a malformed or unknown id is not found", async () => {
  const { body } = await complete([user("Mine")], { model: "offline/echo" });
  const mine = body.id.replace("chatcmpl-", "");
  expect((await trace(`resp_${mine.toUpperCase()}`)).id).toBe(mine);
  for (const id of [UNKNOWN, "x", `${mine}0`, "%00"]) expectRefusal(await read(id), 404, "turn_not_found", "id");
});

test("a trace shows a turn as of any of its events, and refuses those before its start", async () => {
  agents.answers({ text: "Let me see.", tool_calls: [{ name: TOOL, arguments: { text: "in" } }] }, { text: "Done." });
  const { body } = await complete([user("When?")], { tools: toolsOf(TOOL) });
  const now = await trace(body.id);
  const asOf = (n: number) => agents.person.call("GET", `/turns/${body.id}/trace?as_of=${now.events[n].cursor}`);
  const [begun, asked, used, ended] = await Promise.all([0, 1, 2, 3].map(async (n) => (await asOf(n)).body));
  expect(ended).toEqual(now);
  expect(begun).toMatchObject({ status: "running", rounds: [], answer: null, prompt: now.prompt });
  expect(asked.rounds[0].calls[0]).toMatchObject({ name: TOOL, status: "running", output: null });
  expect(used.rounds).toEqual(now.rounds);
  expect(used.answer).toBe(null);
  expect(used.events).toEqual(now.events.slice(0, 3));
  agents.answers({ text: "Later." });
  const later = await complete([user("Again")]);
  const early = await agents.person.call("GET", `/turns/${later.body.id}/trace?as_of=${now.events[0].cursor}`);
  expectRefusal(early, 400, undefined, "as_of");
  expectRefusal(await agents.person.call("GET", `/turns/${body.id}/trace?as_of=soon`), 400, undefined, "as_of");
});

test("a trace is the same without read models, because it is read from the log", async () => {
  const agent = await agents.open({ model: "offline/scripted", tools: [TOOL] });
  const { id } = await agent.ask(`/tool ${TOOL} {}\n/say done`);
  const before = await trace(id);
  for (const table of ["turns", "turn_rounds", "turn_calls"]) await agents.db.query(`truncate read.${table}`);
  expect(await trace(id)).toEqual(before);
});
