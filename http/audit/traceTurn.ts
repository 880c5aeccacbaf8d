import type { z } from "zod";
import type { Recorded } from "#events/envelope.ts";
import { partsOf } from "#events/ids.ts";
import { NO_USAGE, Prompt, type Message, type ThreadEvent, type Usage } from "#events/thread.ts";
import { traceIdOf } from "#events/trace.ts";
import type { Trace, TracedCall, TracedMessage, TracedRound } from "./traceShape.ts";

/** An event of a thread; its type tells what its fields are. */
type Happened = {
  [T in ThreadEvent["type"]]: Recorded<Extract<ThreadEvent, { type: T }>> & { type: T };
}[ThreadEvent["type"]];
type Of<T extends ThreadEvent["type"]> = Extract<Happened, { type: T }>;

/** A blob of a turn, as text; undefined where it is gone. */
export type OpenBlob = (turn_id: string, blob: string) => Promise<string | undefined>;

const isOf =
  <T extends ThreadEvent["type"]>(types: readonly T[]) =>
  (event: Happened): event is Of<T> =>
    (types as readonly string[]).includes(event.type);
const isStart = isOf(["TurnStarted"]);
const isEnd = isOf(["TurnCompleted", "TurnFailed", "TurnStopped"]);
const isRound = isOf(["RoundRequested"]);
const isFinished = isOf(["ToolFinished"]);
const isTakeover = isOf(["TurnTakenOver"]);
const isDeleted = isOf(["TurnDeleted"]);

async function promptOf({ data, personal }: Of<"TurnStarted">, open: OpenBlob): Promise<Prompt | undefined> {
  const input = personal?.input;
  if (!input) return undefined;
  if ("prompt" in input) return input.prompt;
  const json = await open(data.turn_id, input.prompt_blob);
  return json === undefined ? undefined : Prompt.parse(JSON.parse(json));
}

const messageOf = (turn_id: string, { role, text, attachments }: Message): z.infer<typeof TracedMessage> => ({
  role,
  text,
  attachments: attachments.map(({ filename, mime_type, bytes, sha256 }) => ({ filename, mime_type, bytes, sha256 })),
  turn_id,
});

/** What a turn left in the thread for those after it; undefined where that is gone. */
async function leftBy(started: Of<"TurnStarted">, events: Happened[], open: OpenBlob) {
  const { turn_id } = started.data;
  const prompt = await promptOf(started, open);
  if (!prompt) return undefined;
  const said = events.filter(isEnd).find(({ data }) => data.turn_id === turn_id)?.personal?.said.text ?? "";
  const asked = prompt.messages.map((message) => messageOf(turn_id, message));
  return said === "" ? asked : [...asked, messageOf(turn_id, { role: "assistant", text: said, attachments: [] })];
}

/** The conversation that a turn was part of: the turns before it, but for those that were refused or deleted. */
async function conversationBefore(turn: Of<"TurnStarted">, events: Happened[], open: OpenBlob) {
  const before = events.filter(isStart).filter(({ version }) => version < turn.version);
  const left = await Promise.all(before.map((started) => leftBy(started, events, open)));
  const deletedSince = before.filter(({ data }) =>
    events
      .filter(isDeleted)
      .some(({ data: { turn_id }, version }) => turn_id === data.turn_id && version > turn.version),
  );
  return { messages: left.flatMap((messages) => messages ?? []), forgotten_turns: deletedSince.length };
}

async function tracedPrompt(turn: Of<"TurnStarted">, events: Happened[], open: OpenBlob): Promise<Trace["prompt"]> {
  const prompt = await promptOf(turn, open);
  if (!prompt) return null;
  const { messages, instructions, agent, ...settings } = prompt;
  const before = await conversationBefore(turn, events, open);
  return {
    ...settings,
    instructions: [agent?.instructions, instructions].filter(Boolean).join("\n\n") || null,
    messages: [...before.messages, ...messages.map((message) => messageOf(turn.data.turn_id, message))],
    forgotten_turns: before.forgotten_turns,
    reasoning_effort: agent?.reasoning_effort ?? null,
  };
}

async function outputOf({ data, personal }: Of<"ToolFinished">, open: OpenBlob): Promise<string | null> {
  const output = personal?.output;
  if (!output) return null;
  return "text" in output ? output.text : ((await open(data.turn_id, output.blob)) ?? null);
}

async function tracedRound(round: Of<"RoundRequested">, finished: Of<"ToolFinished">[], open: OpenBlob) {
  const { data, personal, recorded_at } = round;
  const { calls = [], text = "", reasoning = "", citations = [], opaque = null } = personal ?? {};
  const traced = calls.map(async (call, n): Promise<z.infer<typeof TracedCall>> => {
    const end = finished.find((event) => event.data.round === data.round && event.data.call === n);
    return {
      ...call,
      status: end?.data.status ?? "running",
      output: end ? await outputOf(end, open) : null,
      sources: end?.personal?.sources ?? [],
      attempt: end?.data.attempt ?? null,
      duration_ms: end?.data.duration_ms ?? null,
      ended_at: end?.recorded_at.toISOString() ?? null,
    };
  });
  const { attempt, usage } = data;
  const at = recorded_at.toISOString();
  return {
    round: data.round,
    attempt,
    at,
    text,
    reasoning,
    citations,
    calls: await Promise.all(traced),
    usage,
    opaque,
  };
}

const STATUS = { TurnCompleted: "completed", TurnFailed: "failed", TurnStopped: "stopped" } as const;

function answerOf(end: ReturnType<typeof endOf>): Trace["answer"] {
  if (!end?.personal) return null;
  const { text, reasoning, citations } = end.personal.said;
  return {
    text,
    reasoning,
    citations,
    finish_reason: end.type === "TurnCompleted" ? end.data.finish_reason : null,
    error: end.type === "TurnFailed" ? (end.personal as { message: string }).message : null,
  };
}

const endOf = (events: Happened[]) => events.find(isEnd);

const sum = (rounds: z.infer<typeof TracedRound>[]): Usage =>
  rounds.reduce((all, { usage }) => {
    const added = Object.entries(all).map(([name, count]) => [name, count + usage[name as keyof Usage]]);
    return Object.fromEntries(added) as Usage;
  }, NO_USAGE);

/** Everything that the log says of a turn, from the events of its thread. Undefined where the turn is gone. */
export async function traceTurn(events: Recorded[], turn_id: string, open: OpenBlob): Promise<Trace | undefined> {
  const all = events as Happened[];
  const own = all.filter(({ data }) => "turn_id" in data && data.turn_id === turn_id);
  const started = own.find(isStart);
  if (!started?.personal) return undefined;
  const { data, stream, recorded_at, meta } = started;
  const { principal, request_id, traceparent } = meta;
  const end = endOf(own);
  const finished = own.filter(isFinished);
  const rounds = await Promise.all(own.filter(isRound).map((round) => tracedRound(round, finished, open)));
  const at = (event: Recorded) => event.recorded_at.toISOString();
  return {
    id: turn_id,
    thread_id: partsOf(stream).id,
    status: end ? STATUS[end.type] : "running",
    model: data.model,
    agent: data.agent ? { id: data.agent.agent_id, version: data.agent.version } : null,
    streamed: data.streamed,
    principal,
    request_id,
    trace_id: traceIdOf(traceparent),
    started_at: at(started),
    ends_by: data.ends_by,
    ended_at: end ? at(end) : null,
    duration_ms: end ? end.recorded_at.getTime() - recorded_at.getTime() : null,
    attempts: [
      { attempt: 1, worker: data.worker, at: at(started) },
      ...own
        .filter(isTakeover)
        .map((event) => ({ attempt: event.data.attempt, worker: event.data.worker, at: at(event) })),
    ],
    prompt: await tracedPrompt(started, all, open),
    rounds,
    answer: answerOf(end),
    usage: end?.data.usage ?? sum(rounds),
  };
}
