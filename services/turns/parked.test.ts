import { describe, expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { APPROVAL_FOR_EVERY_CALL } from "#events/toolApproval.ts";
import { echoTool, lastEvent, stageTurn, USAGE } from "#test/doubles/turnStage.ts";

/* A turn of an agent whose tool `pay` needs the approval of a person. */

const agent = { agent_id: newId(), version: 1, expose_tool_items: true, previous_turn_id: null };
const stage = (more: { calls?: string[]; paying?: () => Promise<void>; max_parked?: number } = {}) => {
  const ran: string[] = [];
  const counted = (name: string) =>
    echoTool(name, async () => {
      ran.push(name);
      if (name === "pay") await more.paying?.();
    });
  const turn = stageTurn({
    rounds: [{ text: ["Let me see."], calls: more.calls ?? ["look", "pay"] }, { text: ["Done."] }],
    tools: [counted("look"), counted("pay")],
    streamed: true,
    agent,
    prompt: { agent: { instructions: "", reasoning_effort: null, tool_approvals: { pay: APPROVAL_FOR_EVERY_CALL } } },
    ...(more.max_parked !== undefined && { max_parked: more.max_parked }),
  });
  return { turn, ran };
};
const outputs = ({ events }: ReturnType<typeof stageTurn>): string[] =>
  events.filter(({ type }) => type === "ToolFinished").map(({ personal }) => (personal as any).output.text);

const BEFORE = ["TurnStarted", "RoundRequested", "ToolFinished", "ToolApprovalRequested", "TurnParked"];
const APPROVED = [...BEFORE, "ToolApprovalDecided", "TurnResumed", "ToolStarted", "ToolFinished", "TurnCompleted"];

describe("a call that a person must allow", () => {
  test("waits, without a worker, after the other calls of its round have run", async () => {
    const { turn, ran } = stage();
    await turn.worker("first").start();
    expect(turn.types()).toEqual(BEFORE);
    expect(ran).toEqual(["look"]);
    expect(turn.events[3]).toMatchObject({ data: { tool: "pay", round: 0, call: 1, agent_id: agent.agent_id } });
    await turn.worker("other").sweep();
    expect(turn.types()).toEqual(BEFORE);
  });

  test("runs once in the process that commits the approval, and readers get every frame once", async () => {
    const { turn, ran } = stage();
    await turn.worker("first").start();
    const seen = turn.frames.map(({ type }) => type);
    turn.frames.length = 0;
    await turn.worker("second").decide("approve");
    expect(turn.types()).toEqual(APPROVED);
    expect(ran).toEqual(["look", "pay"]);
    expect(lastEvent(turn)).toMatchObject({
      data: { attempt: 2 },
      personal: { said: { text: "Let me see.\n\nDone." } },
    });
    const types = turn.frames.map(({ type }) => type);
    expect(types.slice(0, seen.length)).toEqual(seen);
    expect(types.slice(seen.length)).toEqual(["called", "text", "end"]);
    expect(turn.frames.map(({ n }) => n)).toEqual(turn.frames.map((_, n) => n));
  });

  test("that is rejected does not run, and the model reads the comment", async () => {
    const { turn, ran } = stage();
    await turn.worker("first").start();
    await turn.worker("first again").decide("reject", "Not today.");
    expect(ran).toEqual(["look"]);
    expect(turn.types()).not.toContain("ToolStarted");
    expect(outputs(turn)[1]).toBe(
      JSON.stringify({ error: "A person rejected this call, so it did not run. The person said: Not today." }),
    );
    expect(lastEvent(turn).type).toBe("TurnCompleted");
  });

  test("together with another one waits until both are decided", async () => {
    const { turn, ran } = stage({ calls: ["pay", "pay"] });
    await turn.worker("first").start();
    await turn.worker("second").decide("reject");
    expect(turn.types().at(-1)).toBe("ToolApprovalDecided");
    expect(ran).toEqual([]);
    await turn.worker("third").decide("approve");
    expect(ran).toEqual(["pay"]);
    expect(lastEvent(turn).type).toBe("TurnCompleted");
  });

  test("is asked for again in the next round, as often as the turn has rounds", async () => {
    const ran: string[] = [];
    const turn = stageTurn({
      rounds: [...Array.from({ length: 5 }, () => ({ calls: ["pay"] })), { text: ["Done."] }],
      tools: [echoTool("pay", async () => void ran.push("pay"))],
      agent,
      prompt: { agent: { instructions: "", reasoning_effort: null, tool_approvals: { pay: APPROVAL_FOR_EVERY_CALL } } },
    });
    await turn.worker("w0").start();
    for (let n = 1; n <= 5; n++) await turn.worker(`w${n}`).decide("approve");
    expect(ran).toHaveLength(5);
    expect(lastEvent(turn)).toMatchObject({ type: "TurnCompleted", data: { attempt: 6 } });
  });

  test("leaves what an answer cost that broke off before", async () => {
    let asked = 0;
    const turn = stageTurn({
      rounds: [{ calls: ["pay"] }, { text: ["Done."] }],
      tools: [echoTool("pay")],
      agent,
      prompt: { agent: { instructions: "", reasoning_effort: null, tool_approvals: { pay: APPROVAL_FOR_EVERY_CALL } } },
      answer: () => (asked++ === 0 ? [{ type: "progress" }] : undefined),
    });
    await turn.worker("first").start();
    expect(turn.types()).toEqual([
      "TurnStarted",
      "TargetFailed",
      "RoundRequested",
      "ToolApprovalRequested",
      "TurnParked",
    ]);
    const failed = turn.events[1]!.data as any;
    expect(failed).toMatchObject({ round: 0, target: "offline/play", reason: "cut" });
    expect(failed.usage.prompt_tokens).toBeGreaterThan(0);
    await turn.worker("second").decide("approve");
    const { type, data } = lastEvent(turn);
    expect([type, data.usage.prompt_tokens, data.usage_by_model]).toEqual([
      "TurnCompleted",
      2 * USAGE.prompt_tokens + failed.usage.prompt_tokens,
      undefined,
    ]);
  });

  test("does not run when too many turns of the organization wait", async () => {
    const { turn, ran } = stage({ max_parked: 0 });
    await turn.worker("first").start();
    expect(ran).toEqual(["look"]);
    expect(outputs(turn)[1]).toMatch(/0 others wait already/);
    expect(lastEvent(turn).type).toBe("TurnCompleted");
  });
});

describe("when the process that resumes a turn dies", () => {
  /* The events of APPROVED, counted from 1: 5 parked, 7 resumed, 8 started, 9 finished. */
  test.each([
    [7, 1],
    [8, 0],
    [9, 1],
  ])("after %i events, the approved call has run %i times in the end", async (recorded, times) => {
    const { turn, ran } = stage();
    await turn.worker("first").start();
    await turn.worker("second", recorded).decide("approve");
    await turn.worker("third").sweep();
    expect(lastEvent(turn)).toMatchObject({
      type: "TurnCompleted",
      personal: { said: { text: "Let me see.\n\nDone." } },
    });
    expect(ran.filter((name) => name === "pay")).toHaveLength(times);
    if (times === 0) expect(outputs(turn)[1]).toMatch(/not known whether the call took effect/);
  });

  test("while the tool runs, it is not run again", async () => {
    const { turn, ran } = stage({ paying: () => new Promise(() => {}) });
    await turn.worker("first").start();
    const second = turn.worker("second", 9);
    void second.decide("approve");
    await expect.poll(() => ran).toContain("pay");
    await turn.worker("third").sweep();
    expect(ran).toEqual(["look", "pay"]);
    expect(outputs(turn)[1]).toMatch(/not known whether the call took effect/);
    expect(lastEvent(turn).type).toBe("TurnCompleted");
  });
});
