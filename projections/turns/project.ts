import type { RecordedEvent } from "#events/envelope.ts";
import { parseStreamName } from "#events/ids.ts";
import { runOfScope } from "#events/scope.ts";
import type { Prompt, PromptOrBlob, ThreadEvent } from "#events/thread.ts";
import { titleOf } from "#events/threadTitle.ts";
import {
  defineProjection,
  encode,
  patchRow,
  putRow,
  removeRow,
  removeRows,
  type Change,
  type Row,
} from "../projection.ts";

type EventRecord<T extends ThreadEvent["type"]> = RecordedEvent<Extract<ThreadEvent, { type: T }>>;

const patch = (turnId: string, row: Row): Change[] => [patchRow("turns", turnId, row)];

/** The request fields that a response repeats. */
const echoRequest = ({ instructions, user, vars, agent, max_output_tokens }: Prompt) => ({
  instructions,
  user,
  vars,
  reasoning_effort: agent?.reasoning_effort ?? null,
  ...(max_output_tokens !== null && { max_output_tokens }),
});

const isOfRun = ({ scope }: { scope: string }): boolean => runOfScope(scope) !== null;

/** The first turn opens the thread. Threads of runs belong to their run and are not listed. */
function openThread({
  stream,
  version,
  position,
  organization_id,
  data,
  meta,
  recorded_at,
}: EventRecord<"TurnStarted">): Change[] {
  if (version !== 1 || isOfRun(data)) return [];
  return [
    putRow("threads", parseStreamName(stream).id, {
      organization_id,
      position,
      principal: meta.principal,
      scope: data.scope,
      agent_id: data.agent?.agent_id ?? null,
      created_at: recorded_at,
    }),
  ];
}

/** The first words of the user, encoded. */
function titleFrom(input: PromptOrBlob | undefined): string | null {
  if (!input) return null;
  return encode("prompt" in input ? titleOf(input.prompt.messages) : input.title);
}

/** The target that answered, if the turn named an alias. */
const answeredBy = ({ model, usage_by_model }: { model: string; usage_by_model?: unknown }): Row =>
  usage_by_model === undefined ? {} : { model: encode(model) };

/** The columns that every end of a turn sets. */
const endRow = ({ data, personal, recorded_at }: EventRecord<"TurnCompleted" | "TurnFailed" | "TurnStopped">): Row => ({
  ...answeredBy(data),
  frames: data.frames ?? null,
  said: encode(personal?.said),
  usage: encode(data.usage),
  ended_at: recorded_at,
  resumed_at: null,
});

/** An erased turn keeps its public fields and loses its input. */
function applyStart(event: EventRecord<"TurnStarted">): Change[] {
  const { stream, position, organization_id, data, personal, meta, recorded_at } = event;
  const input = personal?.input;
  const prompt = input && "prompt" in input ? input.prompt : undefined;
  return [
    ...openThread(event),
    putRow("turns", data.turn_id, {
      thread_id: parseStreamName(stream).id,
      organization_id,
      position,
      principal: meta.principal,
      scope: data.scope,
      title: titleFrom(input),
      model: encode(data.model),
      streamed: data.streamed,
      status: "running",
      input: encode(prompt?.messages),
      prompt_blob: input && "prompt_blob" in input ? input.prompt_blob : null,
      stored_bytes: data.stored_bytes ?? 0,
      agent: encode(data.agent),
      agent_id: isOfRun(data) ? null : (data.agent?.agent_id ?? null),
      asked: data.agent && prompt ? encode(echoRequest(prompt)) : null,
      command_id: data.command_id,
      attempt: 1,
      ends_by: new Date(data.ends_by),
      started_at: recorded_at,
    }),
  ];
}

export const turns = defineProjection<ThreadEvent>({
  name: "turns",
  version: 8,
  tables: new URL("table.sql", import.meta.url),
  on: {
    TurnStarted: applyStart,
    TurnTakenOver: ({ data }) => patch(data.turn_id, { attempt: data.attempt }),
    TargetFailed: () => [],
    ToolApprovalRequested: () => [],
    ToolApprovalDecided: () => [],
    ToolApprovalExpired: () => [],
    ToolApprovalCancelled: () => [],
    ToolStarted: () => [],
    TurnParked: ({ data, recorded_at }) =>
      patch(data.turn_id, { parked_at: recorded_at, resumed_at: null, frames: data.frames }),
    // the stored frames only reach to where it was parked
    TurnResumed: ({ data: { turn_id, attempt, ends_by }, recorded_at }) =>
      patch(turn_id, { parked_at: null, resumed_at: recorded_at, frames: null, attempt, ends_by: new Date(ends_by) }),
    RoundRequested: ({ stream, data, personal }) => {
      const { text, reasoning, citations, calls } = personal ?? {};
      return [
        putRow(
          "turn_rounds",
          { turn_id: data.turn_id, round: data.round },
          {
            thread_id: parseStreamName(stream).id,
            said: personal ? encode({ text, reasoning, citations }) : null,
            calls: encode(calls),
          },
        ),
      ];
    },
    ToolFinished: ({ stream, data }) => [
      putRow(
        "turn_calls",
        { turn_id: data.turn_id, round: data.round, call: data.call },
        { thread_id: parseStreamName(stream).id, status: data.status },
      ),
    ],
    TurnCompleted: (event) =>
      patch(event.data.turn_id, {
        status: "completed",
        ...endRow(event),
        finish_reason: event.data.finish_reason,
      }),
    TurnFailed: (event) =>
      patch(event.data.turn_id, {
        status: "failed",
        ...endRow(event),
        ...(event.data.code !== undefined && { code: encode(event.data.code) }),
        error: encode(event.personal?.message),
        parked_at: null,
      }),
    TurnStopped: (event) => patch(event.data.turn_id, { status: "stopped", ...endRow(event), parked_at: null }),
    TurnRefused: ({ data, recorded_at }) =>
      patch(data.turn_id, {
        status: "refused",
        title: null,
        input: null,
        prompt_blob: null,
        stored_bytes: 0,
        code: encode(data.code),
        ended_at: recorded_at,
        resumed_at: null,
      }),
    TurnDeleted: ({ data: { turn_id } }) => [
      removeRow("turns", turn_id),
      removeRows("turn_rounds", { turn_id }),
      removeRows("turn_calls", { turn_id }),
    ],
    ThreadDeleted: ({ stream }) => [
      removeRow("threads", parseStreamName(stream).id),
      ...["turns", "turn_rounds", "turn_calls"].map((table) =>
        removeRows(table, { thread_id: parseStreamName(stream).id }),
      ),
    ],
  },
});
