import { describe, expect, test } from "vitest";
import {
  NO_USAGE,
  ThreadDeleted,
  TurnCompleted,
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
      patch({ status: "completed", said: text, finish_reason: "length", usage, ended_at: RECORDED_AT }),
    );
    expect(from(TurnFailed.of(end, { said, message: "cut" }))).toEqual(
      patch({ status: "failed", said: text, error: '"cut"', usage, ended_at: RECORDED_AT }),
    );
    expect(from(TurnStopped.of(end, { said }))).toEqual(
      patch({ status: "stopped", said: text, usage, ended_at: RECORDED_AT }),
    );
    expect(from(TurnRefused.of({ turn_id: id, attempt: 1, code: "busy" }))).toEqual(
      patch({ status: "refused", input: null, prompt_blob: null, code: '"busy"', ended_at: RECORDED_AT }),
    );
  });

  test("a takeover counts the attempt, and a deleted thread loses its rows", () => {
    expect(from(TurnTakenOver.of({ turn_id: id, attempt: 2, worker: "w" }))).toEqual(patch({ attempt: 2 }));
    expect(from(ThreadDeleted.of({}))).toEqual([{ table: "turns", kind: "removeWhere", where: { thread_id: thread } }]);
  });
});
