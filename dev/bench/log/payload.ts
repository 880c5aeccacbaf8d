import { newCommandId, newId, streamName } from "../../../events/ids.ts";
import type { AppendRequest } from "../../../events/ports.ts";
import { EMPTY_PROMPT, TurnCompleted, TurnStarted, type ThreadEvent } from "../../../events/thread.ts";
import { thread } from "../../../services/deciders/thread.ts";

const organization = newId();
const scope = "k".repeat(43);

/** The start of a turn with a short question, about 500 bytes of JSON. */
const startedEvent = (turn_id: string, command_id: string) =>
  TurnStarted.of(
    {
      turn_id,
      scope,
      model: "openai/mock",
      streamed: false,
      ends_by: "2030-01-01T00:00:00.000Z",
      worker: turn_id,
      command_id,
    },
    {
      input: {
        prompt: { ...EMPTY_PROMPT, messages: [{ role: "user", text: "What does it cost?", attachments: [] }] },
      },
    },
  );

const completedEvent = (turn_id: string) =>
  TurnCompleted.of(
    {
      turn_id,
      attempt: 1,
      finish_reason: "stop",
      usage: { prompt_tokens: 12, completion_tokens: 20, cached_tokens: 0, reasoning_tokens: 0 },
      model: "openai/mock",
    },
    { said: { text: "It costs what it costs. ".repeat(8), reasoning: "", citations: [] } },
  );

/** The append for a turn that starts in a new thread; with `whole` it also has the turn's end. */
export const turnAppend = (whole = false): AppendRequest & { bytes: number } => {
  const turn = newId();
  const stream = streamName("thread", newId());
  const id = newCommandId();
  const events: ThreadEvent[] = whole ? [startedEvent(turn, id), completedEvent(turn)] : [startedEvent(turn, id)];
  const state = events.reduce(thread.evolve, thread.initial);
  const head = thread.workStatus?.(state) ?? { status: null, due_at: null, worker: null };
  return {
    bytes: Buffer.byteLength(JSON.stringify(events)),
    command: { id, organization_id: organization, principal: "key:bench", request_id: turn },
    events: events.map((event, n) => ({ stream, version: n + 1, event })),
    heads: [{ stream, state, state_version: thread.version, ...head }],
    keys: {},
    erase: { things: [], streams: [] },
    forget: [],
  };
};
