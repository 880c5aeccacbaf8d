import { describe, expect, test } from "vitest";
import {
  NO_USAGE,
  RoundRequested,
  ThreadDeleted,
  ToolFinished,
  TurnCompleted,
  TurnDeleted,
  TurnFailed,
  TurnRefused,
  TurnStarted,
  TurnStopped,
  TurnTakenOver,
} from "#events/thread.ts";
import { changesOf, erased, ORGANIZATION, RECORDED_AT } from "#test/projections/given.ts";
import { promptOf } from "#test/startTurn.ts";
import { turns } from "./project.ts";

const id = "0198c0de-0000-7000-8000-00000000000a";
const thread = "0198c0de-0000-7000-8000-00000000000b";
const from = (...events: Parameters<typeof changesOf>[2][]) => changesOf(turns, `thread-${thread}`, ...events);
const said = { text: "hi \u0000", reasoning: "", citations: [] };
const messages = [{ role: "user" as const, text: "hello \ud800", attachments: [] }];
const prompt = { ...promptOf(messages), instructions: "be brief" };
const facts = {
  turn_id: id,
  scope: "mine",
  model: "offline/echo",
  streamed: true,
  ends_by: "2026-01-02T04:00:00.000Z",
  worker: null,
  command_id: "c1",
};
const started = TurnStarted.of(facts, { input: { prompt } });
const patch = (row: object) => [{ table: "turns", kind: "patch", key: { id }, row }];

describe("turns", () => {
  test("a started turn is a running row with its messages, not its instructions", () => {
    expect(from(started)).toEqual([
      {
        table: "turns",
        kind: "put",
        key: { id },
        row: {
          thread_id: thread,
          organization_id: ORGANIZATION,
          position: 1,
          scope: "mine",
          model: '"offline/echo"',
          streamed: true,
          status: "running",
          input: JSON.stringify(messages),
          prompt_blob: null,
          agent: null,
          asked: null,
          command_id: "c1",
          attempt: 1,
          ends_by: new Date(facts.ends_by),
          started_at: RECORDED_AT,
        },
      },
    ]);
  });

  test("a prompt in a blob is named", () => {
    const [put] = from(TurnStarted.of(facts, { input: { prompt_blob: "org/turn/1" } }));
    expect(put).toMatchObject({ row: { input: null, prompt_blob: "org/turn/1" } });
  });

  test("an erased turn keeps its public facts only", () => {
    expect(from(erased(started))).toMatchObject([
      { kind: "put", row: { scope: "mine", input: null, prompt_blob: null } },
    ]);
    const completed = TurnCompleted.of(
      { turn_id: id, attempt: 1, finish_reason: "stop", usage: NO_USAGE, model: "m" },
      { said },
    );
    expect(from(erased(completed))).toMatchObject(patch({ status: "completed", said: null }));
  });

  test("each end leaves what it knows", () => {
    const end = { turn_id: id, attempt: 1, usage: NO_USAGE, model: "m" };
    const usage = JSON.stringify(NO_USAGE);
    const text = JSON.stringify(said);
    expect(from(TurnCompleted.of({ ...end, finish_reason: "length" }, { said }))).toEqual(
      patch({ status: "completed", frames: null, said: text, finish_reason: "length", usage, ended_at: RECORDED_AT }),
    );
    expect(from(TurnFailed.of(end, { said, message: "cut" }))).toEqual(
      patch({ status: "failed", frames: null, said: text, error: '"cut"', usage, ended_at: RECORDED_AT }),
    );
    expect(from(TurnStopped.of(end, { said }))).toEqual(
      patch({ status: "stopped", frames: null, said: text, usage, ended_at: RECORDED_AT }),
    );
    expect(from(TurnRefused.of({ turn_id: id, attempt: 1, code: "busy" }))).toEqual(
      patch({ status: "refused", input: null, prompt_blob: null, code: '"busy"', ended_at: RECORDED_AT }),
    );
  });

  test("a takeover counts the attempt, and a deleted thread loses its rows", () => {
    expect(from(TurnTakenOver.of({ turn_id: id, attempt: 2, worker: "w" }))).toEqual(patch({ attempt: 2 }));
    expect(from(ThreadDeleted.of({}))).toEqual(
      ["turns", "turn_rounds", "turn_calls"].map((table) => ({
        table,
        kind: "removeWhere",
        where: { thread_id: thread },
      })),
    );
  });

  test("a response keeps what it shows again of its request, and where its stream is", () => {
    const agent = { agent_id: id, version: 3, expose_tool_items: true, previous_turn_id: null };
    const asked = { ...prompt, vars: { a: 1 }, user: "u", agent: { instructions: "secret", reasoning_effort: "low" } };
    const [put] = from(TurnStarted.of({ ...facts, agent }, { input: { prompt: asked } }));
    expect(put).toMatchObject({
      row: {
        agent: JSON.stringify(agent),
        asked: JSON.stringify({ instructions: "be brief", user: "u", vars: { a: 1 }, reasoning_effort: "low" }),
      },
    });
    const end = { turn_id: id, attempt: 1, usage: NO_USAGE, model: "m", frames: "o/t/1" };
    expect(from(TurnCompleted.of({ ...end, finish_reason: "stop" }, { said }))).toMatchObject([
      { row: { frames: "o/t/1" } },
    ]);
  });

  test("rounds and calls are rows of their turn, and go with it", () => {
    const call = { id: "c", name: "n", arguments: "{}" };
    const asked = { ...said, calls: [call] };
    expect(from(RoundRequested.of({ turn_id: id, attempt: 1, round: 0, usage: NO_USAGE }, asked))).toEqual([
      {
        table: "turn_rounds",
        kind: "put",
        key: { turn_id: id, round: 0 },
        row: { thread_id: thread, said: JSON.stringify(said), calls: JSON.stringify([call]) },
      },
    ]);
    const finished = ToolFinished.of(
      { turn_id: id, attempt: 1, round: 0, call: 0, name: "n", status: "failed", duration_ms: 1 },
      { output: { text: "" }, sources: [] },
    );
    expect(from(finished)).toEqual([
      {
        table: "turn_calls",
        kind: "put",
        key: { turn_id: id, round: 0, call: 0 },
        row: { thread_id: thread, status: "failed" },
      },
    ]);
    expect(from(TurnDeleted.of({ turn_id: id }))).toEqual([
      { table: "turns", kind: "remove", key: { id } },
      { table: "turn_rounds", kind: "removeWhere", where: { turn_id: id } },
      { table: "turn_calls", kind: "removeWhere", where: { turn_id: id } },
    ]);
  });
});
