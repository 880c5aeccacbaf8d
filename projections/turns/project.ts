import type { Recorded } from "#events/envelope.ts";
import { partsOf } from "#events/ids.ts";
import type { Prompt, ThreadEvent } from "#events/thread.ts";
import { defineProjection, encode, type Change, type Row } from "../projection.ts";

type Of<T extends ThreadEvent["type"]> = Recorded<Extract<ThreadEvent, { type: T }>>;

const patch = (turnId: string, row: Row): Change[] => [{ table: "turns", kind: "patch", key: { id: turnId }, row }];

/** What a response shows again of its request. */
export const askedOf = ({ instructions, user, vars, agent }: Prompt) => ({
  instructions,
  user,
  vars,
  reasoning_effort: agent?.reasoning_effort ?? null,
});

/** An erased turn keeps its public facts; what was asked is gone. */
function started({ stream, position, organization_id, data, personal, recorded_at }: Of<"TurnStarted">): Change[] {
  const input = personal?.input;
  const prompt = input && "prompt" in input ? input.prompt : undefined;
  return [
    {
      table: "turns",
      kind: "put",
      key: { id: data.turn_id },
      row: {
        thread_id: partsOf(stream).id,
        organization_id,
        position,
        scope: data.scope,
        model: encode(data.model),
        streamed: data.streamed,
        status: "running",
        input: encode(prompt?.messages),
        prompt_blob: input && "prompt_blob" in input ? input.prompt_blob : null,
        agent: encode(data.agent),
        asked: data.agent && prompt ? encode(askedOf(prompt)) : null,
        command_id: data.command_id,
        attempt: 1,
        ends_by: new Date(data.ends_by),
        started_at: recorded_at,
      },
    },
  ];
}

export const turns = defineProjection<ThreadEvent>({
  name: "turns",
  version: 3,
  tables: new URL("table.sql", import.meta.url),
  on: {
    TurnStarted: started,
    TurnTakenOver: ({ data }) => patch(data.turn_id, { attempt: data.attempt }),
    RoundRequested: ({ stream, data, personal }) => {
      const { text, reasoning, citations, calls } = personal ?? {};
      return [
        {
          table: "turn_rounds",
          kind: "put",
          key: { turn_id: data.turn_id, round: data.round },
          row: {
            thread_id: partsOf(stream).id,
            said: personal ? encode({ text, reasoning, citations }) : null,
            calls: encode(calls),
          },
        },
      ];
    },
    ToolFinished: ({ stream, data }) => [
      {
        table: "turn_calls",
        kind: "put",
        key: { turn_id: data.turn_id, round: data.round, call: data.call },
        row: { thread_id: partsOf(stream).id, status: data.status },
      },
    ],
    TurnCompleted: ({ data, personal, recorded_at }) =>
      patch(data.turn_id, {
        status: "completed",
        frames: data.frames ?? null,
        said: encode(personal?.said),
        finish_reason: data.finish_reason,
        usage: encode(data.usage),
        ended_at: recorded_at,
      }),
    TurnFailed: ({ data, personal, recorded_at }) =>
      patch(data.turn_id, {
        status: "failed",
        frames: data.frames ?? null,
        said: encode(personal?.said),
        error: encode(personal?.message),
        usage: encode(data.usage),
        ended_at: recorded_at,
      }),
    TurnStopped: ({ data, personal, recorded_at }) =>
      patch(data.turn_id, {
        status: "stopped",
        frames: data.frames ?? null,
        said: encode(personal?.said),
        usage: encode(data.usage),
        ended_at: recorded_at,
      }),
    TurnRefused: ({ data, recorded_at }) =>
      patch(data.turn_id, {
        status: "refused",
        input: null,
        prompt_blob: null,
        code: encode(data.code),
        ended_at: recorded_at,
      }),
    TurnDeleted: ({ data: { turn_id } }) => [
      { table: "turns", kind: "remove", key: { id: turn_id } },
      { table: "turn_rounds", kind: "removeWhere", where: { turn_id } },
      { table: "turn_calls", kind: "removeWhere", where: { turn_id } },
    ],
    ThreadDeleted: ({ stream }) =>
      ["turns", "turn_rounds", "turn_calls"].map((table) => ({
        table,
        kind: "removeWhere",
        where: { thread_id: partsOf(stream).id },
      })),
  },
});
