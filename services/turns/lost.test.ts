import { describe, expect, test, vi } from "vitest";
import { endOf, stage, times, toolOf, USAGE } from "#test/doubles/turnStage.ts";

describe("a turn that lost its worker", () => {
  const calls = { one: 0, two: 0 };
  const counted = (name: "one" | "two") => toolOf(name, async () => void calls[name]++);
  const story = {
    rounds: [
      { text: ["Let me look."], calls: ["one", "two"] },
      { text: ["And there."], calls: ["two"] },
      { text: ["Found."] },
    ],
    tools: [counted("one"), counted("two")],
  };
  const WHOLE = "Let me look.\n\nAnd there.\n\nFound.";

  /* Of the events TurnStarted, RoundRequested, 2 x ToolFinished, RoundRequested, ToolFinished, as many were recorded. */
  describe.each([{ streamed: false }, { streamed: true }])("streamed: $streamed", ({ streamed }) => {
    test.each([1, 2, 3, 4, 5, 6])("after %i events goes on from there", async (recorded) => {
      Object.assign(calls, { one: 0, two: 0 });
      const play = stage({ ...story, streamed });
      await play.worker("first", recorded).begin();
      play.frames.length = 0;
      const asked = play.asked.length;
      const called = play.types().filter((type) => type === "ToolFinished").length;
      const before = { ...calls };
      await play.worker("second").attend();
      expect(endOf(play)).toMatchObject({
        type: "TurnCompleted",
        data: { attempt: 2, usage: times(USAGE, 3) },
        personal: { said: { text: WHOLE } },
      });
      const rounds = play.types().filter((type) => type === "RoundRequested").length;
      expect(rounds).toBe(2);
      const roundsBefore = [0, 0, 1, 1, 1, 2, 2][recorded]!;
      expect(play.asked.length - asked).toBe(3 - roundsBefore);
      expect(calls.one + calls.two - before.one - before.two).toBe(3 - called);
      if (streamed) {
        const words = play.frames.flatMap((frame) => (frame.type === "text" ? frame.text : [])).join("");
        expect(words).toBe(WHOLE);
        const steps = play.frames.flatMap((frame) => (frame.type === "calls" ? frame.calls : [])).length;
        expect([steps, play.frames.filter(({ type }) => type === "called").length]).toEqual([3, 3]);
        expect(play.frames.map(({ n }) => n)).toEqual(play.frames.map((_, n) => n));
      }
    });
  });

  test("with recorded words that a reader has seen goes on", async () => {
    const play = stage({ ...story, streamed: true });
    await play.worker("first", 3).begin();
    expect(play.frames[0]).toMatchObject({ type: "text", text: "Let me look." });
    await play.worker("second").attend();
    expect(endOf(play)).toMatchObject({ type: "TurnCompleted", personal: { said: { text: WHOLE } } });
  });

  test("that ends by itself and lets go of it goes on, and nothing has been said of an end", async () => {
    const play = stage({ ...story, tools: [toolOf("one", async () => first.leave()), counted("two")] });
    const first = play.worker("first");
    await first.begin();
    expect(play.types()).not.toContainEqual(expect.stringMatching(/^Turn(Completed|Failed|Stopped|Refused)$/));
    await play.worker("second").attend();
    expect(endOf(play)).toMatchObject({ type: "TurnCompleted", personal: { said: { text: WHOLE } } });
  });

  test("with words of an open round that a reader has seen fails with them", async () => {
    const play = stage({ ...story, streamed: true });
    await play.worker("first", 4).begin();
    play.frames.push({ attempt: 1, n: 1, type: "text", text: "\n\nAnd" });
    const asked = play.asked.length;
    await play.worker("second").attend();
    expect(endOf(play)).toMatchObject({
      type: "TurnFailed",
      data: { usage: USAGE },
      personal: { said: { text: "Let me look.\n\nAnd", citations: [{ title: "one " }, { title: "two " }] } },
    });
    expect(play.asked).toHaveLength(asked);
  });

  test("three times is given up with what was recorded", async () => {
    const play = stage({ ...story, streamed: true });
    await play.worker("first", 3).begin();
    await play.worker("second", 4).attend();
    await play.worker("third", 5).attend();
    await play.worker("fourth").attend();
    expect(endOf(play)).toMatchObject({ type: "TurnFailed", personal: { said: { text: "Let me look." } } });
  });

  test("takes nothing more from it", async () => {
    const slow = toolOf("one", () => new Promise((resolve) => setTimeout(resolve, 20)));
    const play = stage({ rounds: [{ calls: ["one"] }, { text: ["Found"] }], tools: [slow] });
    const first = play.worker("first").begin();
    await vi.waitFor(() => expect(play.types()).toContain("RoundRequested"), { interval: 1 });
    await play.worker("second").attend();
    await first;
    expect(play.types()).toEqual(["TurnStarted", "RoundRequested", "TurnTakenOver", "ToolFinished", "TurnCompleted"]);
    expect(play.events.slice(3).map(({ data }) => (data as any).attempt)).toEqual([2, 2]);
  });
});
