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
import { TurnParked, TurnResumed } from "#events/threadApprovals.ts";
import { projectEvents, erased, ORGANIZATION, RECORDED_AT } from "#test/projections/projectEvents.ts";
import { promptOf } from "#test/startTurn.ts";
import { turns } from "./project.ts";

const id = "0198c0de-0000-7000-8000-00000000000a";
const thread = "0198c0de-0000-7000-8000-00000000000b";
const from = (...events: Parameters<typeof projectEvents>[2][]) => projectEvents(turns, `thread-${thread}`, ...events);
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

describe("the turns projection", () => {
  test("inserts a started turn with its messages and without its instructions", () => {
    expect(from(started)).toEqual([
      {
        table: "threads",
        kind: "put",
        key: { id: thread },
        row: {
          organization_id: ORGANIZATION,
          position: 1,
          principal: "system",
          scope: "mine",
          agent_id: null,
          created_at: RECORDED_AT,
        },
      },
      {
        table: "turns",
        kind: "put",
        key: { id },
        row: {
          thread_id: thread,
          organization_id: ORGANIZATION,
          position: 1,
          principal: "system",
          scope: "mine",
          title: '"hello \\ud800"',
          model: '"offline/echo"',
          streamed: true,
          status: "running",
          input: JSON.stringify(messages),
          prompt_blob: null,
          stored_bytes: 0,
          agent: null,
          agent_id: null,
          asked: null,
          command_id: "c1",
          attempt: 1,
          ends_by: new Date(facts.ends_by),
          started_at: RECORDED_AT,
        },
      },
    ]);
  });

  test("stores the key of a prompt blob, and the title that the event has of it", () => {
    const [, put] = from(TurnStarted.of(facts, { input: { prompt_blob: "org/turn/1" } }));
    expect(put).toMatchObject({ row: { input: null, prompt_blob: "org/turn/1", title: null } });
    const [, titled] = from(TurnStarted.of(facts, { input: { prompt_blob: "org/turn/1", title: "Hello" } }));
    expect(titled).toMatchObject({ row: { title: '"Hello"' } });
  });

  test("opens a thread with its first turn only, and none for a turn of a run", () => {
    const [, , second] = from(started, { ...started, data: { ...facts, turn_id: thread } });
    expect(second).toMatchObject({ table: "turns", key: { id: thread } });
    const agent = { agent_id: id, version: 1, expose_tool_items: false, previous_turn_id: null };
    const changes = from(TurnStarted.of({ ...facts, scope: `run:${id}`, agent }, { input: { prompt } }));
    expect(changes).toMatchObject([{ table: "turns", row: { agent_id: null } }]);
  });

  test("keeps only the public fields of an erased turn", () => {
    expect(from(erased(started))).toMatchObject([
      { table: "threads" },
      { kind: "put", row: { scope: "mine", input: null, prompt_blob: null } },
    ]);
    const completed = TurnCompleted.of(
      { turn_id: id, attempt: 1, finish_reason: "stop", usage: NO_USAGE, model: "m" },
      { said },
    );
    expect(from(erased(completed))).toMatchObject(patch({ status: "completed", said: null }));
  });

  test("stores the output, the error and the usage of an ended turn", () => {
    const end = { turn_id: id, attempt: 1, usage: NO_USAGE, model: "m" };
    const usage = JSON.stringify(NO_USAGE);
    const text = JSON.stringify(said);
    const ended = { frames: null, said: text, usage, ended_at: RECORDED_AT, resumed_at: null };
    expect(from(TurnCompleted.of({ ...end, finish_reason: "length" }, { said }))).toEqual(
      patch({ ...ended, status: "completed", finish_reason: "length" }),
    );
    expect(from(TurnFailed.of(end, { said, message: "cut" }))).toEqual(
      patch({ ...ended, status: "failed", error: '"cut"', parked_at: null }),
    );
    expect(from(TurnStopped.of(end, { said }))).toEqual(patch({ ...ended, status: "stopped", parked_at: null }));
    expect(from(TurnRefused.of({ turn_id: id, attempt: 1, code: "busy" }))).toEqual(
      patch({
        status: "refused",
        title: null,
        input: null,
        prompt_blob: null,
        stored_bytes: 0,
        code: '"busy"',
        ended_at: RECORDED_AT,
        resumed_at: null,
      }),
    );
  });

  test("shows since when a turn waits, with the frames that its readers have, until it is resumed", () => {
    const parked = TurnParked.of({ turn_id: id, attempt: 1, frames: "f", left_ms: 1 });
    expect(from(parked)).toEqual(patch({ parked_at: RECORDED_AT, resumed_at: null, frames: "f" }));
    const ends_by = "2026-01-02T00:00:00.000Z";
    expect(from(TurnResumed.of({ turn_id: id, attempt: 2, worker: "w", ends_by }))).toEqual(
      patch({ parked_at: null, resumed_at: RECORDED_AT, frames: null, attempt: 2, ends_by: new Date(ends_by) }),
    );
  });

  test("patches the attempt of a turn that was taken over, and removes all rows of a deleted thread", () => {
    expect(from(TurnTakenOver.of({ turn_id: id, attempt: 2, worker: "w" }))).toEqual(patch({ attempt: 2 }));
    expect(from(ThreadDeleted.of({}))).toEqual([
      { table: "threads", kind: "remove", key: { id: thread } },
      ...["turns", "turn_rounds", "turn_calls"].map((table) => ({
        table,
        kind: "removeWhere",
        where: { thread_id: thread },
      })),
    ]);
  });

  test("stores the request fields that a response repeats, and the key of its frames", () => {
    const agent = { agent_id: id, version: 3, expose_tool_items: true, previous_turn_id: null };
    const asked = { ...prompt, vars: { a: 1 }, user: "u", agent: { instructions: "secret", reasoning_effort: "low" } };
    const [, put] = from(TurnStarted.of({ ...facts, agent }, { input: { prompt: asked } }));
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

  test("stores rounds and tool calls, and removes them with their turn", () => {
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
