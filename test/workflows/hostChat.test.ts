import { beforeEach, describe, expect, test } from "vitest";
import { streamName } from "#events/ids.ts";
import { Unavailable } from "#events/ports.ts";
import { expectRefused, failureOf, openStepAttemptsWithProvider } from "./stepAttempts.ts";

/* What a step asks of models: once, whatever becomes of its attempts, and within the envelope. */

const { provider, platform, mine } = await openStepAttemptsWithProvider();
beforeEach(() => {
  provider.script(() => undefined);
});

const say = (content: string, more: object = {}) => ({
  model: "offline/echo",
  messages: [{ role: "user", content }],
  ...more,
});
const turns = () => platform.count("TurnStarted", mine.organization_id);
const begun = (work: () => Promise<unknown>) => platform.countTurns(mine.organization_id, work);

describe("a chat", () => {
  test("returns the same answer as the chat API", async () => {
    const { call } = (await mine.run()).attempt();
    const answer = await call("chat", say("Hello, world"));
    expect(answer).toEqual({
      id: expect.stringMatching(/^chatcmpl-[0-9a-f-]{36}$/),
      model: "offline/echo",
      content: "Hello, world",
      finish_reason: "stop",
      usage: {
        prompt_tokens: expect.any(Number),
        completion_tokens: 3,
        total_tokens: expect.any(Number),
        prompt_tokens_details: { cached_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
      thread_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    const types = (await platform.resources.log.read(streamName("thread", answer.thread_id))).map(({ type }) => type);
    expect(types).toEqual(["TurnStarted", "TurnCompleted"]);
  });

  test("can name an alias, and the answer names the model", async () => {
    const targets = [{ model: "offline/scripted" }, { model: "offline/echo" }];
    await mine.made(mine.owner("PUT", "/aliases/quick", { targets }));
    const { call } = (await mine.run({ models: ["quick"] })).attempt();
    expect(await call("chat", say("/fail 503", { model: "quick" }))).toMatchObject({
      model: "offline/echo",
      content: "/fail 503",
    });
    await expectRefused(call("chat", say("Hello", { model: "offline/echo" })), "model_not_allowed", /offline.echo/);
    expect(await failureOf((await mine.run()).attempt().call("chat", say("Hello", { model: "slow" })))).toMatchObject({
      message: expect.stringContaining("There is no model"),
    });
  });

  test("passes all requested options to the model", async () => {
    const { call } = (await mine.run()).attempt();
    provider.requests.length = 0;
    await call("chat", {
      model: "openai/gpt-test",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "One" },
        { role: "assistant", content: "1" },
        { role: "developer", content: "Be kind." },
        { role: "user", content: "Two" },
      ],
      temperature: 0.5,
      top_p: 0.9,
      max_tokens: 100,
      stop: ["END"],
      seed: 7,
      response_format: { type: "json_object" },
      tools: ["stock", "stock"],
      tool_choice: { type: "function", function: { name: "stock" } },
    });
    const { body } = provider.requests.find(({ method }) => method === "POST")!;
    expect(body).toMatchObject({
      model: "gpt-test",
      temperature: 0.5,
      top_p: 0.9,
      stop: ["END"],
      seed: 7,
      response_format: { type: "json_object" },
      tool_choice: { type: "function", function: { name: "stock" } },
    });
    expect(body.messages.map(({ content }: any) => content)).toEqual(["Be brief.\n\nBe kind.", "One", "1", "Two"]);
    expect(body.tools.map((tool: any) => tool.function.name)).toEqual(["stock"]);
  });

  test("can use tools of the organization", async () => {
    const { call } = (await mine.run()).attempt();
    const asked = say("/tool stock {}", { model: "offline/scripted", tools: ["stock"] });
    expect((await call("chat", asked)).content).toBe('stock: {"stock":3}');
  });

  test("can be long", async () => {
    const { call } = (await mine.run()).attempt();
    // the way to another process takes 256 KiB, so this goes as a blob
    const text = `${"ä\n".repeat(200_000)}end`;
    expect((await call("chat", say(text))).content).toBe(text);
    await expectRefused(call("chat", say("a".repeat(4_000_001))), "step_error", "chat: messages: must hold at most");
  });
});

describe("a chat that another attempt repeats", () => {
  test("is the same chat, identified by its content and not by its call", async () => {
    const { attempt, retry } = await mine.run();
    const first = attempt();
    let a: any, b: any, twice: any;
    expect(
      await begun(async () => {
        [a, b] = await Promise.all([first.call("chat", say("A")), first.call("chat", say("B"))]);
        twice = await first.call("chat", say("A"));
      }),
    ).toBe(3);
    expect(twice.id).not.toBe(a.id);
    const second = await retry(1);
    expect(
      await begun(async () => {
        expect(await second.call("chat", say("B"))).toEqual(b);
        expect(await second.call("chat", say("A"))).toEqual(a);
        expect(await second.call("chat", say("A"))).toEqual(twice);
      }),
    ).toBe(0);
    expect(await begun(() => second.call("chat", say("A")))).toBe(1);
    const third = await retry(2);
    expect(await begun(async () => expect(await third.call("chat", say("A"))).toEqual(a))).toBe(0);
  });

  test("is never shared with another run or step", async () => {
    const [one, two] = [(await mine.run()).attempt(), (await mine.run()).attempt()];
    const answers = [await one.call("chat", say("A")), await two.call("chat", say("A"))];
    expect(answers[0].id).not.toBe(answers[1].id);
  });

  test("is awaited if it has not ended", async () => {
    const { attempt, retry } = await mine.run();
    const slow = say("/slow 1\n/say done", { model: "offline/scripted" });
    const before = await turns();
    const cut = new AbortController();
    const late = attempt().call("chat", slow, cut.signal);
    await expect.poll(turns).toBe(before + 1);
    cut.abort(new Error("the step's time is over"));
    await expect(late).rejects.toThrow("the step's time is over");
    const second = await retry(1);
    expect((await second.call("chat", slow)).content).toBe("done");
    expect(await turns()).toBe(before + 1);
  });

  test("is answered from the log if its end was not received", async () => {
    const { attempt } = await mine.run();
    platform.connection.deaf = true;
    try {
      expect((await attempt().call("chat", say("/slow 3\n/say done", { model: "offline/scripted" }))).content).toBe(
        "done",
      );
    } finally {
      platform.connection.deaf = false;
    }
  });

  test("is found if the start was not acknowledged", async () => {
    const { attempt, retry } = await mine.run();
    const { handle } = platform.connection;
    platform.connection.handle = async (command) => {
      await handle(command);
      throw new Unavailable("the answer is lost");
    };
    try {
      const lost = await failureOf(attempt().call("chat", say("once")));
      expect(lost).toMatchObject({
        code: "step_error",
        final: false,
        message: expect.stringMatching("chat: the platform"),
      });
    } finally {
      platform.connection.handle = handle;
    }
    const second = await retry(1);
    expect(await begun(async () => expect((await second.call("chat", say("once"))).content).toBe("once"))).toBe(0);
  });

  test.each([
    ["refused", { status: 400 }, "TurnRefused"],
    ["failed", undefined, "TurnFailed"],
  ])("starts again if its turn has %s", async (_, refusal, type) => {
    const { attempt, retry } = await mine.run();
    const asked = say("Go", { model: "openai/gpt-test", tools: ["stock"] });
    // a turn whose tools have run did happen, and fails
    provider.script(({ method, body }) => {
      if (method !== "POST") return undefined;
      const told = body.messages.some(({ role }: any) => role === "tool");
      return refusal ?? (told ? { status: 400 } : { tool_calls: [{ name: "stock", arguments: {} }] });
    });
    const before = await platform.count(type, mine.organization_id);
    expect(await failureOf(attempt().call("chat", asked))).toMatchObject({ code: "step_error", final: false });
    expect(await failureOf((await retry(1)).call("chat", asked))).toMatchObject({ code: "step_error", final: false });
    expect(await platform.count(type, mine.organization_id)).toBe(before + 2);
    provider.script({ text: "at last" });
    const third = await retry(2);
    const answer = await third.call("chat", asked);
    expect(answer.content).toBe("at last");
    const fourth = await retry(3);
    expect(await begun(async () => expect(await fourth.call("chat", asked)).toEqual(answer))).toBe(0);
  });
});

describe("the envelope", () => {
  test("controls models and tools, from the next call on", async () => {
    const { attempt, edit } = await mine.run({ models: ["offline/echo"], tools: ["web_search"] });
    const { call } = attempt();
    expect((await call("chat", say("A"))).content).toBe("A");
    await expectRefused(
      call("chat", say("A", { model: "offline/scripted" })),
      "model_not_allowed",
      "offline/scripted is not in the workflow's envelope.models",
    );
    await expectRefused(
      call("chat", say("A", { tools: ["web_search", "stock"] })),
      "tool_not_allowed",
      "stock is not in the workflow's envelope.tools",
    );
    await edit({ models: ["offline/scripted"], tools: ["stock"] });
    await expectRefused(call("chat", say("A")), "model_not_allowed", "offline/echo");
    expect((await call("chat", say("/say B", { model: "offline/scripted", tools: ["stock"] }))).content).toBe("B");
  });

  test("still applies to a step that continues after its run was cancelled", async () => {
    const agent_id = await mine.agent({ tools: ["stock"] });
    const { attempt, cancel } = await mine.run({ tools: ["stock"], models: ["offline/echo"] });
    const { call } = attempt();
    await cancel();
    expect((await call("chat", say("A"))).content).toBe("A");
    expect((await call("agent", { agent_id, input: "A" })).output_text).toBe("A");
    expect((await call("search", { query: "A" })).results).toEqual([]);
    await expectRefused(call("tool", { name: "web_fetch", args: {} }), "tool_not_allowed", "web_fetch");
    await expectRefused(call("chat", say("A", { model: "offline/scripted" })), "model_not_allowed", "offline/scripted");
  });

  test("excludes agents of other projects from a step that continues after its run was cancelled", async () => {
    const [project, other] = [(await mine.project("One")).id, (await mine.project("Two")).id];
    const agent_id = await mine.agent({ project_id: other });
    const { attempt, cancel } = await mine.run({}, project);
    await cancel();
    await expectRefused(attempt().call("agent", { agent_id, input: "A" }), "step_error", "there is no such agent");
  });
});

describe("a permanent error of a chat is reported at once:", () => {
  test.each([
    ["no model", { messages: [] }, "chat: model: "],
    ["no message", { model: "a/b", messages: [] }, "chat: messages: must hold a user message"],
    ["an invalid role", { model: "a/b", messages: [{ role: "tool", content: "" }] }, /^chat: messages\[0\]\.role: /],
    [
      "an invalid content",
      { model: "a/b", messages: [{ role: "user", content: 5 }] },
      /^chat: messages\[0\]\.content: /,
    ],
    ["a misspelt field", say("A", { max_token: 5 }), "max_token"],
    ["a text instead of a number", say("A", { temperature: "hot" }), "chat: temperature: "],
    ["an unknown format", say("A", { response_format: { type: "xml" } }), "chat: response_format.type: "],
    ["an unknown tool choice", say("A", { tools: ["stock"], tool_choice: "some" }), "chat: tool_choice: must be"],
    [
      "a tool choice that is not one of the tools",
      say("A", { tool_choice: { type: "function", function: { name: "stock" } } }),
      "chat: tool_choice.function.name: must be one of tools",
    ],
    ["an unknown tool", say("A", { tools: ["none"] }), 'chat: tools: there is no tool "none"'],
    [
      "an unknown collection",
      say("A", { knowledge: { collections: ["x"] } }),
      'knowledge.collections: there is no collection "x"',
    ],
    ["an unknown model", say("A", { model: "offline/none" }), "offline/none"],
    ["an unknown provider", say("A", { model: "nobody/none" }), "nobody"],
    ["no input", undefined, "chat: "],
    ["a list as the input", [], "chat: "],
  ])("%s", async (_, input, message) => {
    const { call } = (await mine.run()).attempt();
    await expectRefused(call("chat", input), "step_error", message);
  });
});

test("a model never receives a secret", async () => {
  const value = 'sk-"canary"-0815';
  await mine.secret("shop_key", value);
  const { secret, call } = (await mine.run({ secrets: ["shop_key"] })).attempt();
  const key = await secret("shop_key");
  const { content } = await call("chat", say(`The key is ${key}, ${encodeURIComponent(key)}`));
  expect(content).toBe("The key is [secret shop_key], [secret shop_key]");
  const agent_id = await mine.agent({});
  const { output_text } = await call("agent", { agent_id, input: `And ${key}`, vars: { key } });
  expect(output_text).toBe("And [secret shop_key]");
});
