import { describe, expect, test, vi } from "vitest";
import { echoTool, lastEvent, stageTurn, times, USAGE } from "#test/doubles/turnStage.ts";

const results = (turn: ReturnType<typeof stageTurn>, n: number) =>
  turn.requests[n]!.messages.filter(({ role }) => role === "tool").map(({ parts }) => (parts[0] as any).text);

test("a turn without tools asks the model once and records only its end", async () => {
  const turn = stageTurn({ rounds: [{ text: ["Hello"] }], streamed: true });
  await turn.worker("w").start();
  expect(turn.types()).toEqual(["TurnStarted", "TurnCompleted"]);
  expect(turn.requests).toHaveLength(1);
  expect(turn.frames.map(({ type }) => type)).toEqual(["text", "end"]);
});

describe("a turn with tools", () => {
  test("asks the model, runs the tools that it calls, and asks again with their results", async () => {
    const turn = stageTurn({
      rounds: [
        { text: ["Let me ", "look."], calls: ["one", { name: "two", arguments: '{"q":"x"}' }] },
        { text: ["Found."] },
      ],
      tools: [echoTool("one"), echoTool("two")],
    });
    await turn.worker("w").start();
    expect(turn.types()).toEqual(["TurnStarted", "RoundRequested", "ToolFinished", "ToolFinished", "TurnCompleted"]);
    expect(turn.requests[0]).toMatchObject({ tools: [{ name: "one" }, { name: "two" }], messages: [{ role: "user" }] });
    expect(turn.requests[1]!.messages.slice(1)).toEqual([
      {
        role: "assistant",
        parts: [{ type: "text", text: "Let me look." }],
        calls: [
          { id: "call-0-0", name: "one", arguments: "{}" },
          { id: "call-0-1", name: "two", arguments: '{"q":"x"}' },
        ],
      },
      { role: "tool", call_id: "call-0-0", parts: [{ type: "text", text: "one()" }] },
      { role: "tool", call_id: "call-0-1", parts: [{ type: "text", text: "two(x)" }] },
    ]);
    const { data, personal } = lastEvent(turn);
    expect(data).toMatchObject({ finish_reason: "stop", usage: times(USAGE, 2) });
    expect(personal.said).toMatchObject({ text: "Let me look.\n\nFound." });
  });

  test("cites each source that its tools consulted once, for the whole answer", async () => {
    const again = { name: "two", arguments: '{"q":"a"}' };
    const turn = stageTurn({
      rounds: [{ calls: [again, "one", again] }, { text: ["Yes"] }],
      tools: [echoTool("one"), echoTool("two")],
    });
    await turn.worker("w").start();
    expect(lastEvent(turn).personal.said.citations).toEqual([
      { url: "https://docs.example/two#a", title: "two a", start_index: 0, end_index: 3 },
      { url: "https://docs.example/one#", title: "one ", start_index: 0, end_index: 3 },
    ]);
  });

  test("keeps the model's own citations, shifted to their place in the whole answer", async () => {
    const own = { url: "https://own.example", title: "Own", start_index: 0, end_index: 5 };
    const turn = stageTurn({
      rounds: [
        { text: ["Wait"], calls: ["one"] },
        { text: ["Found"], more: [{ type: "citations", citations: [own] }] },
      ],
      tools: [echoTool("one")],
      streamed: true,
    });
    await turn.worker("w").start();
    const shifted = [{ ...own, start_index: 6, end_index: 11 }];
    expect(lastEvent(turn).personal.said).toMatchObject({ text: "Wait\n\nFound", citations: shifted });
    expect(turn.frames.find(({ type }) => type === "citations")).toMatchObject({ citations: shifted });
  });

  test("sends frames that add up to the answer", async () => {
    const turn = stageTurn({
      rounds: [{ text: ["A", "B"], calls: ["one"] }, { calls: ["one"] }, { text: ["C", "D"] }],
      tools: [echoTool("one")],
      streamed: true,
    });
    await turn.worker("w").start();
    const words = turn.frames.flatMap((frame) => (frame.type === "text" ? frame.text : []));
    expect(words.join("")).toBe("AB\n\nCD");
    expect(lastEvent(turn).personal.said.text).toBe("AB\n\nCD");
    // how many frames the words share depends on when they arrive
    const types = turn.frames.map(({ type }) => type).join();
    expect(types.replaceAll(/(text,)+/g, "text,")).toBe("text,calls,called,calls,called,text,end");
  });

  test("forces a tool choice in the first round only", async () => {
    const turn = stageTurn({
      rounds: [{ calls: ["one"] }, { text: ["ok"] }],
      tools: [echoTool("one")],
      prompt: { tool_choice: "required" },
    });
    await turn.worker("w").start();
    expect(turn.requests.map(({ tool_choice }) => tool_choice)).toEqual(["required", "auto"]);
  });

  test("offers no tools when the choice is none, and ends when the model calls one", async () => {
    const run = vi.fn(async () => {});
    const turn = stageTurn({
      rounds: [{ calls: ["one"] }],
      tools: [echoTool("one", run)],
      prompt: { tool_choice: "none" },
    });
    await turn.worker("w").start();
    expect(turn.requests[0]!.tools).toEqual([]);
    expect(run).not.toHaveBeenCalled();
    expect(lastEvent(turn)).toMatchObject({ type: "TurnCompleted", data: { finish_reason: "tool_calls" } });
  });

  test("ends after ten rounds with the output so far", async () => {
    const turn = stageTurn({ rounds: [{ text: ["More. "], calls: ["one"] }], tools: [echoTool("one")] });
    await turn.worker("w").start();
    expect(turn.requests).toHaveLength(10);
    expect(turn.types().filter((type) => type === "ToolFinished")).toHaveLength(10);
    expect(lastEvent(turn)).toMatchObject({
      type: "TurnCompleted",
      data: { finish_reason: "stop", usage: times(USAGE, 10) },
      personal: { said: { text: "More. ".repeat(10) } },
    });
  });

  test("runs four calls at once, and 32 in a round", async () => {
    let running = 0;
    let peak = 0;
    const busy = echoTool("one", async () => {
      peak = Math.max(peak, ++running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running--;
    });
    const turn = stageTurn({ rounds: [{ calls: Array(40).fill("one") }, { text: ["ok"] }], tools: [busy] });
    await turn.worker("w").start();
    expect(peak).toBe(4);
    expect(results(turn, 1)).toHaveLength(32);
  });

  test("stores a long result in a blob", async () => {
    const turn = stageTurn({
      rounds: [{ calls: ["one"] }, { text: ["ok"] }],
      tools: [echoTool("one", undefined, 70_000)],
    });
    await turn.worker("w").start();
    expect(turn.blobs.size).toBe(1);
    const { data, personal } = turn.events[2] as any;
    expect([personal.output, data.stored_bytes]).toEqual([{ blob: [...turn.blobs.keys()][0] }, 70_005]);
    expect(results(turn, 1)[0]).toHaveLength(70_005);
  });
});

describe("a call of the caller's own tool", () => {
  const client_tools = [{ name: "mine", description: "", parameters: { type: "object" } }];
  const mixed = { rounds: [{ text: ["One moment."], calls: ["one", "mine"] }], prompt: { client_tools } };

  test("ends the turn after the server's calls of its round", async () => {
    const turn = stageTurn({ ...mixed, tools: [echoTool("one")] });
    await turn.worker("w").start();
    expect(turn.types()).toEqual(["TurnStarted", "RoundRequested", "ToolFinished", "TurnCompleted"]);
    expect(turn.requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([["one", "mine"]]);
    const { data, personal } = lastEvent(turn);
    expect(data).toMatchObject({ finish_reason: "tool_calls", open_calls: ["call-0-1"], usage: USAGE });
    const calls = [{ id: "call-0-1", name: "mine", arguments: "{}", client: true }];
    expect(personal.said).toMatchObject({ text: "One moment.", calls });
  });

  test("ends the turn also after a takeover, which asks no model and repeats no tool", async () => {
    let runs = 0;
    const turn = stageTurn({ ...mixed, tools: [echoTool("one", async () => void runs++)] });
    await turn.worker("w", 3).start();
    await turn.worker("v").sweep();
    expect(turn.types()).toEqual(["TurnStarted", "RoundRequested", "ToolFinished", "TurnTakenOver", "TurnCompleted"]);
    expect([runs, turn.requests.length]).toEqual([1, 1]);
    expect(lastEvent(turn).data).toMatchObject({ attempt: 2, open_calls: ["call-0-1"] });
  });

  test("is kept from the model when no tool may be called", async () => {
    const turn = stageTurn({ rounds: [{ text: ["No."] }], prompt: { client_tools, tool_choice: "none" } });
    await turn.worker("w").start();
    expect(turn.requests[0]!.tools).toEqual([]);
  });
});

describe("a tool call that fails", () => {
  const broken = echoTool("broken", async () => {
    throw new Error("the password of the database is 123");
  });
  test.each([
    ["because the tool does not exist", "three", "no tool of this name"],
    ["because its arguments are no JSON", { name: "one", arguments: "{q:" }, "not valid JSON"],
    ["because its arguments do not match the schema", { name: "one", arguments: '{"q":5}' }, "do not fit: q"],
    ["because the tool throws", "broken", "failed; it may work later"],
  ])("%s is reported to the model, which continues", async (_, call, message) => {
    const turn = stageTurn({ rounds: [{ calls: [call] }, { text: ["Sorry"] }], tools: [echoTool("one"), broken] });
    await turn.worker("w").start();
    expect(results(turn, 1)[0]).toContain(message);
    expect(results(turn, 1)[0]).not.toContain("password");
    expect(turn.events[2]!.data).toMatchObject({
      status: "failed",
      name: call === "three" ? null : expect.any(String),
    });
    expect(lastEvent(turn)).toMatchObject({ type: "TurnCompleted", personal: { said: { text: "Sorry" } } });
  });
});

describe("a provider that fails after a round", () => {
  test("fails the turn with its output and usage so far", async () => {
    const turn = stageTurn({
      rounds: [{ text: ["Let me look."], calls: ["one"] }, { error: new Error("gone") }],
      tools: [echoTool("one")],
    });
    await turn.worker("w").start();
    expect(lastEvent(turn)).toMatchObject({
      type: "TurnFailed",
      data: { usage: USAGE },
      personal: { said: { text: "Let me look." } },
    });
  });
});

describe("a turn with a running tool", () => {
  const hanging = echoTool("one", () => new Promise<void>(() => {}));
  const running = { rounds: [{ text: ["So far"], calls: ["one"] }], tools: [hanging], streamed: true };

  test("is stopped by its client", async () => {
    const turn = stageTurn(running);
    const run = turn.worker("w").start();
    await vi.waitFor(() => expect(turn.types()).toContain("RoundRequested"), { interval: 1, timeout: 60_000 });
    turn.stop();
    await run;
    expect(lastEvent(turn)).toMatchObject({
      type: "TurnStopped",
      data: { usage: USAGE },
      personal: { said: { text: "So far" } },
    });
  });

  test("fails when its time is up", async () => {
    const turn = stageTurn({ ...running, seconds: 0.05 });
    await turn.worker("w").start();
    expect(lastEvent(turn)).toMatchObject({ type: "TurnFailed", personal: { said: { text: "So far" } } });
  });

  test("aborts the tool", async () => {
    let received: AbortSignal | undefined;
    const listening = echoTool("one", ({ signal }) => {
      received = signal;
      return new Promise(() => {});
    });
    await stageTurn({ ...running, tools: [listening], seconds: 0.05 })
      .worker("w")
      .start();
    expect(received!.aborted).toBe(true);
  });
});
