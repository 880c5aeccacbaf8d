import { describe, expect, test, vi } from "vitest";
import { endOf, stage, times, toolOf, USAGE } from "#test/doubles/turnStage.ts";

const results = (play: ReturnType<typeof stage>, asked: number) =>
  play.asked[asked]!.messages.filter(({ role }) => role === "tool").map(({ parts }) => (parts[0] as any).text);

test("a turn without tools asks once, and records nothing but its end", async () => {
  const play = stage({ rounds: [{ text: ["Hello"] }], streamed: true });
  await play.worker("w").begin();
  expect(play.types()).toEqual(["TurnStarted", "TurnCompleted"]);
  expect(play.asked).toHaveLength(1);
  expect(play.frames.map(({ type }) => type)).toEqual(["text", "end"]);
});

describe("a turn with tools", () => {
  test("asks, runs what the model wants, and asks again with the results", async () => {
    const play = stage({
      rounds: [
        { text: ["Let me ", "look."], calls: ["one", { name: "two", arguments: '{"q":"x"}' }] },
        { text: ["Found."] },
      ],
      tools: [toolOf("one"), toolOf("two")],
    });
    await play.worker("w").begin();
    expect(play.types()).toEqual(["TurnStarted", "RoundRequested", "ToolFinished", "ToolFinished", "TurnCompleted"]);
    expect(play.asked[0]).toMatchObject({ tools: [{ name: "one" }, { name: "two" }], messages: [{ role: "user" }] });
    expect(play.asked[1]!.messages.slice(1)).toEqual([
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
    const { data, personal } = endOf(play);
    expect(data).toMatchObject({ finish_reason: "stop", usage: times(USAGE, 2) });
    expect(personal.said).toMatchObject({ text: "Let me look.\n\nFound." });
  });

  test("names what its tools consulted, each source once, for the whole answer", async () => {
    const again = { name: "two", arguments: '{"q":"a"}' };
    const play = stage({
      rounds: [{ calls: [again, "one", again] }, { text: ["Yes"] }],
      tools: [toolOf("one"), toolOf("two")],
    });
    await play.worker("w").begin();
    expect(endOf(play).personal.said.citations).toEqual([
      { url: "https://docs.example/two#a", title: "two a", start_index: 0, end_index: 3 },
      { url: "https://docs.example/one#", title: "one ", start_index: 0, end_index: 3 },
    ]);
  });

  test("lets the model's own citations stand, where they are in the whole answer", async () => {
    const own = { url: "https://own.example", title: "Own", start_index: 0, end_index: 5 };
    const play = stage({
      rounds: [
        { text: ["Wait"], calls: ["one"] },
        { text: ["Found"], more: [{ type: "citations", citations: [own] }] },
      ],
      tools: [toolOf("one")],
      streamed: true,
    });
    await play.worker("w").begin();
    const shifted = [{ ...own, start_index: 6, end_index: 11 }];
    expect(endOf(play).personal.said).toMatchObject({ text: "Wait\n\nFound", citations: shifted });
    expect(play.frames.find(({ type }) => type === "citations")).toMatchObject({ citations: shifted });
  });

  test("says in frames exactly what the answer is", async () => {
    const play = stage({
      rounds: [{ text: ["A", "B"], calls: ["one"] }, { calls: ["one"] }, { text: ["C", "D"] }],
      tools: [toolOf("one")],
      streamed: true,
    });
    await play.worker("w").begin();
    const words = play.frames.flatMap((frame) => (frame.type === "text" ? frame.text : []));
    expect(words).toEqual(["A", "B", "\n\nC", "D"]);
    expect(endOf(play).personal.said.text).toBe(words.join(""));
    expect(play.frames.map(({ type }) => type).join()).toBe("text,text,calls,called,calls,called,text,text,end");
  });

  test("forces a choice in the first round only", async () => {
    const play = stage({
      rounds: [{ calls: ["one"] }, { text: ["ok"] }],
      tools: [toolOf("one")],
      prompt: { tool_choice: "required" },
    });
    await play.worker("w").begin();
    expect(play.asked.map(({ tool_choice }) => tool_choice)).toEqual(["required", "auto"]);
  });

  test("offers nothing where the choice is none, and then what the model calls is its end", async () => {
    const run = vi.fn(async () => {});
    const play = stage({ rounds: [{ calls: ["one"] }], tools: [toolOf("one", run)], prompt: { tool_choice: "none" } });
    await play.worker("w").begin();
    expect(play.asked[0]!.tools).toEqual([]);
    expect(run).not.toHaveBeenCalled();
    expect(endOf(play)).toMatchObject({ type: "TurnCompleted", data: { finish_reason: "tool_calls" } });
  });

  test("ends after ten rounds with what was said", async () => {
    const play = stage({ rounds: [{ text: ["More. "], calls: ["one"] }], tools: [toolOf("one")] });
    await play.worker("w").begin();
    expect(play.asked).toHaveLength(10);
    expect(play.types().filter((type) => type === "ToolFinished")).toHaveLength(10);
    expect(endOf(play)).toMatchObject({
      type: "TurnCompleted",
      data: { finish_reason: "stop", usage: times(USAGE, 10) },
      personal: { said: { text: "More. ".repeat(10) } },
    });
  });

  test("runs some calls at once, and not more than so many", async () => {
    let running = 0;
    let most = 0;
    const busy = toolOf("one", async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running--;
    });
    const play = stage({ rounds: [{ calls: Array(40).fill("one") }, { text: ["ok"] }], tools: [busy] });
    await play.worker("w").begin();
    expect(most).toBe(4);
    expect(results(play, 1)).toHaveLength(32);
  });

  test("keeps a long result beside the log", async () => {
    const play = stage({ rounds: [{ calls: ["one"] }, { text: ["ok"] }], tools: [toolOf("one", undefined, 70_000)] });
    await play.worker("w").begin();
    expect(play.blobs.size).toBe(1);
    expect((play.events[2] as any).personal.output).toEqual({ blob: [...play.blobs.keys()][0] });
    expect(results(play, 1)[0]).toHaveLength(70_005);
  });
});

describe("a tool that fails", () => {
  const broken = toolOf("broken", async () => {
    throw new Error("the password of the database is 123");
  });
  test.each([
    ["is not there", "three", "no tool of this name"],
    ["gets no JSON", { name: "one", arguments: "{q:" }, "not valid JSON"],
    ["gets what it does not take", { name: "one", arguments: '{"q":5}' }, "do not fit: q"],
    ["throws", "broken", "failed; it may work later"],
  ])("%s: the model hears of it and goes on", async (_, call, message) => {
    const play = stage({ rounds: [{ calls: [call] }, { text: ["Sorry"] }], tools: [toolOf("one"), broken] });
    await play.worker("w").begin();
    expect(results(play, 1)[0]).toContain(message);
    expect(results(play, 1)[0]).not.toContain("password");
    expect(play.events[2]!.data).toMatchObject({
      status: "failed",
      name: call === "three" ? null : expect.any(String),
    });
    expect(endOf(play)).toMatchObject({ type: "TurnCompleted", personal: { said: { text: "Sorry" } } });
  });
});

describe("a provider that fails after a round", () => {
  test("fails the turn with what was said and used, and is not asked for the tools again", async () => {
    const play = stage({
      rounds: [{ text: ["Let me look."], calls: ["one"] }, { error: new Error("gone") }],
      tools: [toolOf("one")],
    });
    await play.worker("w").begin();
    expect(endOf(play)).toMatchObject({
      type: "TurnFailed",
      data: { usage: USAGE },
      personal: { said: { text: "Let me look." } },
    });
  });
});

describe("a turn whose tool runs", () => {
  const hanging = toolOf("one", () => new Promise<void>(() => {}));
  const running = { rounds: [{ text: ["So far"], calls: ["one"] }], tools: [hanging], streamed: true };

  test("is stopped by its reader", async () => {
    const play = stage(running);
    const run = play.worker("w").begin();
    await vi.waitFor(() => expect(play.types()).toContain("RoundRequested"), { interval: 1 });
    play.stop();
    await run;
    expect(endOf(play)).toMatchObject({
      type: "TurnStopped",
      data: { usage: USAGE },
      personal: { said: { text: "So far" } },
    });
  });

  test("fails when its time is up", async () => {
    const play = stage({ ...running, seconds: 0.05 });
    await play.worker("w").begin();
    expect(endOf(play)).toMatchObject({ type: "TurnFailed", personal: { said: { text: "So far" } } });
  });

  test("tells the tool", async () => {
    let told: AbortSignal | undefined;
    const listening = toolOf("one", ({ signal }) => {
      told = signal;
      return new Promise(() => {});
    });
    await stage({ ...running, tools: [listening], seconds: 0.05 })
      .worker("w")
      .begin();
    expect(told!.aborted).toBe(true);
  });
});
