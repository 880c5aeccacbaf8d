import type { Recorded } from "#events/envelope.ts";
import { partsOf } from "#events/ids.ts";
import type { ThreadEvent } from "#events/thread.ts";
import { defineProjection, encode, type Change, type Row } from "../projection.ts";

type Of<T extends ThreadEvent["type"]> = Recorded<Extract<ThreadEvent, { type: T }>>;

const patch = (turnId: string, row: Row): Change[] => [{ table: "turns", kind: "patch", key: { id: turnId }, row }];

/** An erased turn keeps its public facts; what was asked is gone. */
function started({ stream, position, organization_id, data, personal, recorded_at }: Of<"TurnStarted">): Change[] {
  const input = personal?.input;
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
        input: input && "prompt" in input ? encode(input.prompt.messages) : null,
        prompt_blob: input && "prompt_blob" in input ? input.prompt_blob : null,
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
  version: 1,
  tables: new URL("table.sql", import.meta.url),
  on: {
    TurnStarted: started,
    TurnTakenOver: ({ data }) => patch(data.turn_id, { attempt: data.attempt }),
    RoundRequested: () => [],
    ToolFinished: () => [],
    TurnCompleted: ({ data, personal, recorded_at }) =>
      patch(data.turn_id, {
        status: "completed",
        said: encode(personal?.said),
        finish_reason: data.finish_reason,
        usage: encode(data.usage),
        ended_at: recorded_at,
      }),
    TurnFailed: ({ data, personal, recorded_at }) =>
      patch(data.turn_id, {
        status: "failed",
        said: encode(personal?.said),
        error: encode(personal?.message),
        usage: encode(data.usage),
        ended_at: recorded_at,
      }),
    TurnStopped: ({ data, personal, recorded_at }) =>
      patch(data.turn_id, {
        status: "stopped",
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
    ThreadDeleted: ({ stream }) => [{ table: "turns", kind: "removeWhere", where: { thread_id: partsOf(stream).id } }],
  },
});
