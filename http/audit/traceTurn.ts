import type { z } from "zod";
import type { RecordedEvent } from "#events/envelope.ts";
import { parseStreamName } from "#events/ids.ts";
import { NO_USAGE, type Usage } from "#events/thread.ts";
import { addUsage } from "#events/turnOutput.ts";
import { parseTraceId } from "#events/trace.ts";
import type { ToCursor } from "./cursor.ts";
import { traceApprovals } from "./traceApprovals.ts";
import type { Trace, TracedCall, TracedRound } from "./traceShape.ts";
import {
  hasType,
  isTurnEnd,
  isTurnStart,
  presentMessage,
  readConversation,
  readPrompt,
  readThread,
  type OpenBlob,
  type ThreadBefore,
  type ThreadRecord,
} from "./traceThread.ts";

const isToolFinish = hasType("ToolFinished");
const isRound = hasType("RoundRequested");
const isTargetFailure = hasType("TargetFailed");
const isNextAttempt = hasType("TurnTakenOver", "TurnResumed");

async function tracePrompt(
  turn: ThreadRecord<"TurnStarted">,
  thread: ThreadBefore,
  open: OpenBlob,
): Promise<Trace["prompt"]> {
  const prompt = await readPrompt(turn, open);
  if (!prompt) return null;
  const { messages, instructions, agent, ...settings } = prompt;
  const before = await readConversation(thread, open);
  return {
    ...settings,
    instructions: [agent?.instructions, instructions].filter(Boolean).join("\n\n") || null,
    messages: [...before, ...messages.map((message) => presentMessage(turn.data.turn_id, message))],
    forgotten_turns: thread.forgottenTurns,
    turns_not_shown: thread.turnsNotShown,
    reasoning_effort: agent?.reasoning_effort ?? null,
  };
}

async function readOutput({ data, personal }: ThreadRecord<"ToolFinished">, open: OpenBlob): Promise<string | null> {
  const output = personal?.output;
  if (!output) return null;
  return "text" in output ? output.text : ((await open(data.turn_id, output.blob))?.toString() ?? null);
}

async function traceRound(
  round: ThreadRecord<"RoundRequested">,
  { finishes, approvals }: { finishes: ThreadRecord<"ToolFinished">[]; approvals: ReturnType<typeof traceApprovals> },
  open: OpenBlob,
) {
  const { data, personal, recorded_at } = round;
  const { calls = [], text = "", reasoning = "", citations = [], opaque = null } = personal ?? {};
  const traced = calls.map(async ({ client, ...call }, n): Promise<z.infer<typeof TracedCall>> => {
    const end = finishes.find((event) => event.data.round === data.round && event.data.call === n);
    return {
      ...call,
      status: end?.data.status ?? (client ? "client" : "running"),
      output: end ? await readOutput(end, open) : null,
      sources: end?.personal?.sources ?? [],
      tool_version: end?.data.tool_version ?? null,
      secrets: end?.data.secrets ?? [],
      attempt: end?.data.attempt ?? null,
      duration_ms: end?.data.duration_ms ?? null,
      ended_at: end?.recorded_at.toISOString() ?? null,
      approval: approvals.get(`${data.round}/${n}`) ?? null,
    };
  });
  const { attempt, usage, model } = data;
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
    ...(model !== undefined && { model }),
    opaque,
  };
}

const presentFailure = ({ data, recorded_at }: ThreadRecord<"TargetFailed">): Trace["failed_targets"][number] => {
  const { target, round, attempt, reason, duration_ms, usage } = data;
  return { target, round, attempt, reason, duration_ms, at: recorded_at.toISOString(), ...(usage && { usage }) };
};

const STATUS = { TurnCompleted: "completed", TurnFailed: "failed", TurnStopped: "stopped" } as const;

function presentAnswer(end: ThreadRecord<"TurnCompleted" | "TurnFailed" | "TurnStopped"> | undefined): Trace["answer"] {
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

const sumUsage = (rounds: z.infer<typeof TracedRound>[]): Usage =>
  rounds.map(({ usage }) => usage).reduce(addUsage, NO_USAGE);

/** Builds the trace of a turn from the events of its thread; undefined if the turn was deleted. */
export async function traceTurn(
  thread: AsyncIterable<RecordedEvent[]>,
  turn_id: string,
  { open, toCursor }: { open: OpenBlob; toCursor: ToCursor },
): Promise<Trace | undefined> {
  const read = await readThread(thread, turn_id);
  const { own } = read;
  const started = own.find(isTurnStart);
  if (!started?.personal) return undefined;
  const { data, stream, recorded_at, meta } = started;
  const { principal, request_id, traceparent } = meta;
  const end = own.find(isTurnEnd);
  const ofCalls = { finishes: own.filter(isToolFinish), approvals: traceApprovals(own) };
  const rounds = await Promise.all(own.filter(isRound).map((round) => traceRound(round, ofCalls, open)));
  const at = (event: RecordedEvent) => event.recorded_at.toISOString();
  return {
    id: turn_id,
    thread_id: parseStreamName(stream).id,
    status: end ? STATUS[end.type] : "running",
    model: data.model,
    ...(data.labels && { labels: data.labels }),
    answered_by: end?.data.model ?? null,
    ...(data.route && { targets: data.route.targets }),
    failed_targets: own.filter(isTargetFailure).map(presentFailure),
    agent: data.agent ? { id: data.agent.agent_id, version: data.agent.version } : null,
    streamed: data.streamed,
    principal,
    request_id,
    trace_id: parseTraceId(traceparent),
    started_at: at(started),
    ends_by: data.ends_by,
    ended_at: end ? at(end) : null,
    duration_ms: end ? end.recorded_at.getTime() - recorded_at.getTime() : null,
    attempts: [
      { attempt: 1, worker: data.worker, at: at(started) },
      ...own.filter(isNextAttempt).map((event) => ({
        attempt: event.data.attempt,
        worker: event.data.worker,
        at: at(event),
        ...(event.type === "TurnResumed" && { resumed: true as const }),
      })),
    ],
    prompt: await tracePrompt(started, read, open),
    rounds,
    answer: presentAnswer(end),
    usage: end?.data.usage ?? sumUsage(rounds),
    events: own.map((event) => ({ cursor: toCursor(event.position), type: event.type, recorded_at: at(event) })),
  };
}
