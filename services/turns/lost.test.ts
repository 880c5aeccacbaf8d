import { describe, expect, test, vi } from "vitest";
import { Unavailable } from "#events/ports.ts";
import type { Usage } from "#events/thread.ts";
import { addUsage } from "#events/turnOutput.ts";
import { echoTool, lastEvent, stageTurn, times, USAGE } from "#test/doubles/turnStage.ts";

type Stage = ReturnType<typeof stageTurn>;

/** The requests that the log records as lost with their workers. */
const lostRequests = ({ events }: Stage): any[] =>
  events.flatMap(({ type, data }) =>
    type === "TargetFailed" && (data as any).reason === "worker_lost" ? [data as any] : [],
  );
const withLost = (turn: Stage, usage: object): Usage =>
  lostRequests(turn).reduce((sum, lost) => addUsage(sum, lost.usage), usage as Usage);
/** The estimated prompt tokens of requests with this many finished rounds. */
const sentIn = ({ requests }: Stage, round: number): number[] =>
  requests
    .map(({ messages }) => messages)
    .filter((messages) => messages.filter((message) => message.role === "assistant" && message.calls).length === round)
    .map((messages) => JSON.stringify(messages).length);

describe("a turn that lost its worker", () => {
  const calls = { one: 0, two: 0 };
  const counted = (name: "one" | "two") => echoTool(name, async () => void calls[name]++);
  const script = {
    rounds: [
      { text: ["Let me look."], calls: ["one", "two"] },
      { text: ["And there."], calls: ["two"] },
      { text: ["Found."] },
    ],
    tools: [counted("one"), counted("two")],
  };
  const WHOLE = "Let me look.\n\nAnd there.\n\nFound.";

  /* The events are TurnStarted, RoundRequested, ToolFinished, ToolFinished, RoundRequested, ToolFinished. */
  describe.each([{ streamed: false }, { streamed: true }])("streamed: $streamed", ({ streamed }) => {
    test.each([1, 2, 3, 4, 5, 6])("after %i events is resumed after the last of them", async (recorded) => {
      Object.assign(calls, { one: 0, two: 0 });
      const turn = stageTurn({ ...script, streamed });
      await turn.worker("first", recorded).start();
      turn.frames.length = 0;
      const requests = turn.requests.length;
      const called = turn.types().filter((type) => type === "ToolFinished").length;
      const before = { ...calls };
      await turn.worker("second").sweep();
      expect(lastEvent(turn)).toMatchObject({
        type: "TurnCompleted",
        data: { attempt: 2, usage: withLost(turn, times(USAGE, 3)) },
        personal: { said: { text: WHOLE } },
      });
      // it was asking the model, or about to
      expect(lostRequests(turn)).toHaveLength([1, 4, 6].includes(recorded) ? 1 : 0);
      const rounds = turn.types().filter((type) => type === "RoundRequested").length;
      expect(rounds).toBe(2);
      const roundsBefore = [0, 0, 1, 1, 1, 2, 2][recorded]!;
      expect(turn.requests.length - requests).toBe(3 - roundsBefore);
      expect(calls.one + calls.two - before.one - before.two).toBe(3 - called);
      if (streamed) {
        const words = turn.frames.flatMap((frame) => (frame.type === "text" ? frame.text : [])).join("");
        expect(words).toBe(WHOLE);
        const steps = turn.frames.flatMap((frame) => (frame.type === "calls" ? frame.calls : [])).length;
        expect([steps, turn.frames.filter(({ type }) => type === "called").length]).toEqual([3, 3]);
        expect(turn.frames.map(({ n }) => n)).toEqual(turn.frames.map((_, n) => n));
        const repeated = turn.frames.filter(({ is_new }) => !is_new);
        expect(repeated.filter(({ type }) => type === "calls")).toHaveLength(roundsBefore);
        expect(repeated).toEqual(turn.frames.slice(0, repeated.length));
      }
    });
  });

  test.each([1, 2, 3, 4, 5, 6].flatMap((first) => [0, 1, 2, 3, 4, 5, 6].map((further) => [first, further])))(
    "twice, after %i events and %i more, counts what the model was asked each time",
    async (first, further) => {
      const turn = stageTurn(script);
      await turn.worker("first", first).start();
      // takes over, records what was lost, and dies some events later
      await turn.worker("second", turn.events.length + 2 + further).sweep();
      const answered = () => turn.types().filter((type) => /^(RoundRequested|TurnCompleted)$/.test(type)).length;
      const { type, data } = await (async () => {
        if (answered() < 3) await turn.worker("third").sweep();
        return lastEvent(turn);
      })();
      if (type === "TurnCompleted") expect(data.usage).toEqual(withLost(turn, times(USAGE, 3)));
      else {
        expect([type, data.usage.completion_tokens]).toEqual(["TurnFailed", answered() * USAGE.completion_tokens]);
        expect(data.usage.prompt_tokens).toBeGreaterThanOrEqual(withLost(turn, times(USAGE, answered())).prompt_tokens);
      }
      for (const { round, usage } of lostRequests(turn)) {
        expect(usage.completion_tokens).toBe(0);
        const sent = sentIn(turn, round);
        expect(sent).toEqual(sent.map(() => usage.prompt_tokens));
      }
    },
  );

  describe("with files", () => {
    const file = (mime_type: string, bytes: number) => ({
      filename: "file",
      mime_type,
      bytes,
      sha256: mime_type,
      blob: mime_type,
    });
    const attachments = [file("application/pdf", 1_200_000), file("image/png", 2_000_000)];
    const openStage = (rounds: Parameters<typeof stageTurn>[0]["rounds"]) => {
      const turn = stageTurn({ rounds, prompt: { messages: [{ role: "user", text: "Look", attachments }] } });
      for (const { blob, bytes } of attachments) turn.blobs.set(blob, Buffer.alloc(bytes));
      return turn;
    };
    const ofFiles = 40_000 + 1_500;

    test("counts them with their usual number of tokens", async () => {
      const turn = openStage([{ text: ["Seen."] }]);
      await turn.worker("first", 1).start();
      await turn.worker("second").sweep();
      // the double counts 57 tokens of the texts
      const lost = 57 + ofFiles;
      expect(lostRequests(turn)).toMatchObject([{ usage: { prompt_tokens: lost, completion_tokens: 0 } }]);
      expect(lastEvent(turn)).toMatchObject({
        type: "TurnCompleted",
        data: { usage: { prompt_tokens: lost + USAGE.prompt_tokens } },
      });
    });

    test("and an answer that breaks off counts them, although their memory is freed before the turn ends", async () => {
      const turn = openStage([{ text: ["Se"], error: new Error("reset") }]);
      await turn.worker("first").start();
      expect(lastEvent(turn)).toMatchObject({
        type: "TurnFailed",
        // 251 if each file is counted at its place
        data: { usage: { prompt_tokens: 251 + ofFiles, completion_tokens: 2 } },
      });
    });
  });

  test("because the worker stopped is resumed, and the worker has recorded no end", async () => {
    const turn = stageTurn({ ...script, tools: [echoTool("one", async () => first.leave()), counted("two")] });
    const first = turn.worker("first");
    await first.start();
    expect(turn.types()).not.toContainEqual(expect.stringMatching(/^Turn(Completed|Failed|Stopped|Refused)$/));
    await turn.worker("second").sweep();
    expect(lastEvent(turn)).toMatchObject({ type: "TurnCompleted", personal: { said: { text: WHOLE } } });
  });

  test("after a reader has seen text of an unrecorded round fails with that text", async () => {
    const turn = stageTurn({ ...script, streamed: true });
    await turn.worker("first", 4).start();
    turn.frames.push({ attempt: 1, n: turn.frames.length, type: "text", text: "\n\nAnd" });
    const requests = turn.requests.length;
    await turn.worker("second").sweep();
    expect(lastEvent(turn)).toMatchObject({
      type: "TurnFailed",
      data: { usage: { ...USAGE, prompt_tokens: expect.any(Number), completion_tokens: 2 + "\n\nAnd".length } },
      personal: { said: { text: "Let me look.\n\nAnd", citations: [{ title: "one " }, { title: "two " }] } },
    });
    expect(turn.requests).toHaveLength(requests);
    expect(lastEvent(turn).data.usage.prompt_tokens).toBeGreaterThan(USAGE.prompt_tokens + "Question".length);
  });

  test("is resumed although text of an unrecorded round was sent, if no reader can have it because the bus lost the frame before", async () => {
    const turn = stageTurn({ ...script, streamed: true });
    await turn.worker("first", 4).start();
    const next = turn.frames.length;
    const lost = turn.frames.findIndex(({ type }) => type === "calls");
    turn.frames.push({ attempt: 1, n: next, type: "text", text: "\n\nAnd" });
    turn.frames.splice(lost, 1);
    await turn.worker("second").sweep();
    expect(lastEvent(turn)).toMatchObject({ type: "TurnCompleted", personal: { said: { text: WHOLE } } });
  });

  test.each<[what: string, targets: string[] | undefined, size: number]>([
    ["its model", undefined, 0],
    ["a target of its alias", ["a"], 0],
    ["a long result of a tool", undefined, 70_000],
  ])("fails with its recorded rounds, and pays for them, if %s cannot be read", async (_what, targets, size) => {
    let isAway = false;
    const turn = stageTurn({
      ...script,
      ...(targets && { targets }),
      tools: [echoTool("one", undefined, size), counted("two")],
      outage: () => (isAway ? new Unavailable("The database is away.") : undefined),
    });
    await turn.worker("first", 4).start();
    isAway = true;
    await turn.worker("second").sweep();
    // without the result, the lost request cannot be estimated
    expect(lostRequests(turn)).toHaveLength(size === 0 ? 1 : 0);
    const { type, data, personal } = lastEvent(turn);
    expect([type, data.usage, personal.said.text]).toEqual(["TurnFailed", withLost(turn, USAGE), "Let me look."]);
    expect(data.model).toBe(targets ? "offline/a" : "offline/play");
  });

  test("because two workers died fails with the recorded output, and no third one runs it", async () => {
    const turn = stageTurn({ ...script, streamed: true });
    await turn.worker("first", 3).start();
    await turn.worker("second", 5).sweep();
    const requests = turn.requests.length;
    await turn.worker("third").sweep();
    expect(turn.requests).toHaveLength(requests);
    expect(lastEvent(turn)).toMatchObject({
      type: "TurnFailed",
      personal: {
        said: { text: "Let me look." },
        message: "The turn was given up: two processes died while they worked on it.",
      },
    });
  });

  test("because two workers left is resumed by the third", async () => {
    let left = 0;
    const leaving = async () => {
      [first, second][left++]?.leave();
    };
    const turn = stageTurn({ ...script, tools: [echoTool("one", leaving), counted("two")] });
    const first = turn.worker("first");
    const second = turn.worker("second");
    await first.start();
    await second.sweep();
    await turn.worker("third").sweep();
    expect(lastEvent(turn)).toMatchObject({ type: "TurnCompleted", personal: { said: { text: WHOLE } } });
  });

  test("refuses what the lost worker still records", async () => {
    const slow = echoTool("one", () => new Promise((resolve) => setTimeout(resolve, 20)));
    const turn = stageTurn({ rounds: [{ calls: ["one"] }, { text: ["Found"] }], tools: [slow] });
    const first = turn.worker("first").start();
    await vi.waitFor(() => expect(turn.types()).toContain("RoundRequested"), { interval: 1, timeout: 60_000 });
    await turn.worker("second").sweep();
    await first;
    expect(turn.types()).toEqual(["TurnStarted", "RoundRequested", "TurnTakenOver", "ToolFinished", "TurnCompleted"]);
    expect(turn.events.slice(3).map(({ data }) => (data as any).attempt)).toEqual([2, 2]);
  });
});
