import type { z } from "zod";
import type { FramePayload } from "#events/ports.ts";
import type { ToolApproval, ToolApprovals } from "#events/toolApproval.ts";
import { NO_OUTPUT, NO_USAGE, type FinishTool, type RequestRound, type ToolCall } from "#events/thread.ts";
import type { ModelAnswer } from "./askModel.ts";
import { continueAfter } from "./frames.ts";
import type { ModelRequest } from "./model.ts";
import { roundMessages, type Round } from "./round.ts";
import { callTool, refuseCall, type ToolOutcome } from "./tools/call.ts";
import type { Tool, ToolContext } from "./tools/tool.ts";
import { findToolGate, type ToolGate } from "./toolGate.ts";
import type { TurnMemoryShare } from "./turnMemory.ts";

/** Rounds of tools in one turn (spec: Limits). */
export const MAX_ROUNDS = 10;
/** Tool calls per round; more are dropped. */
const MAX_CALLS = 32;
const MAX_PARALLEL_CALLS = 4;

type Ids = "turn_id" | "attempt";
export type RoundRecord = Omit<z.infer<typeof RequestRound.schema>, Ids>;
export type CallRecord = Omit<z.infer<typeof FinishTool.schema>, Ids | "output" | "stored_bytes"> & {
  text: string;
};

/** An answer of the model. `model`: the target that gave it, if the turn's model is an alias. */
export type RoundAnswer = ModelAnswer & { model?: string };

/** Asks for the answer that follows the rounds so far. Their usage shows what they have cost. Throws AnswerInterrupted. */
export type AskModel = (
  request: ModelRequest,
  rounds: Round[],
  signal: AbortSignal,
  onFrame: (frame: FramePayload) => void,
) => Promise<RoundAnswer>;

/** A call that a person must allow. */
export interface WaitingCall {
  /** Index of the call in its round. */
  n: number;
  call: ToolCall;
  approval: ToolApproval;
}

export interface Conversation {
  ask: AskModel;
  request: ModelRequest;
  /** The rounds so far. New rounds and their results are added to this array. */
  rounds: Round[];
  /** The tools that this service runs. */
  tools: Tool[];
  /** Names of the caller's own tools. */
  clientTools: ReadonlySet<string>;
  context: ToolContext;
  onFrame(frame: FramePayload): void;
  /** Resolves when the round is recorded. Throws TurnLost. */
  recordRound(round: RoundRecord): Promise<void>;
  recordCall(call: CallRecord): Promise<void>;
  /** The tools whose calls wait for a person. */
  approvals: ToolApprovals;
  /** Whether the turn can wait for a person. A step of a workflow cannot. */
  mayWait: boolean;
  recordStart(call: { round: number; call: number }): Promise<void>;
  /** Parks the turn until people have decided, and throws TurnLost. Returns the reason if the turn cannot wait. */
  park(round: number, calls: WaitingCall[]): Promise<string>;
  onToolError(error: unknown, tool: string): void;
  /** Where the results of tools are counted. */
  share: Pick<TurnMemoryShare, "add">;
}

/**
 * Asks the model, runs the tools it calls and asks again, until it answers, calls one of the caller's own tools, or the rounds are
 * used up. Records each round before its tools run, and each result after its call, so that a takeover repeats nothing in `rounds`.
 * Resolves with the last answer. Throws AnswerInterrupted, and TurnLost if a call waits for a person.
 */
export async function converse(conversation: Conversation): Promise<RoundAnswer> {
  const { ask, request, rounds, clientTools, context, onFrame } = conversation;
  for (;;) {
    if (rounds.length > 0) await finishCalls(conversation, rounds.length - 1);
    const clientCalls = rounds.at(-1)?.calls.filter(({ client }) => client) ?? [];
    if (clientCalls.length > 0)
      return { output: NO_OUTPUT, calls: clientCalls, finish_reason: "tool_calls", usage: NO_USAGE };
    if (rounds.length === MAX_ROUNDS) return { output: NO_OUTPUT, calls: [], finish_reason: "stop", usage: NO_USAGE };
    const emit = continueAfter(rounds, onFrame);
    const answer = await ask(addRounds(request, rounds), rounds, context.signal, emit);
    if (!wantsTools(answer) || request.tools.length === 0) return answer;
    const { output, opaque, usage, model } = answer;
    const target = model !== undefined && { model };
    const calls = answer.calls
      .slice(0, MAX_CALLS)
      .map((call) => (clientTools.has(call.name) ? { ...call, client: true as const } : call));
    await conversation.recordRound({ round: rounds.length, usage, ...target, ...output, calls, opaque });
    onFrame({ type: "calls", calls });
    rounds.push({ ...output, calls, opaque, usage, ...target, results: calls.map(() => undefined) });
  }
}

/** Any other finish reason cuts the answer off, and its last call may be incomplete. Some providers send `stop` after calls. */
const wantsTools = ({ calls, finish_reason }: RoundAnswer): boolean =>
  calls.length > 0 && (finish_reason === "tool_calls" || finish_reason === "stop");

/** A forced tool choice applies to the first round only: a model that must always call a tool would never answer. */
export const addRounds = (request: ModelRequest, rounds: Round[]): ModelRequest =>
  rounds.length === 0
    ? request
    : { ...request, tool_choice: "auto", messages: [...request.messages, ...rounds.flatMap(roundMessages)] };

/** A call without a result, and whether it may run. */
interface OpenCall {
  call: ToolCall;
  n: number;
  gate: ToolGate;
}

/** The calls of a round that have no result yet, except those of the caller's own tools. */
function listOpenCalls({ rounds, tools, approvals, mayWait }: Conversation, round: number): OpenCall[] {
  const { calls, results, decisions } = rounds[round]!;
  const options = { approvals, isOfRun: !mayWait };
  const isOffered = (name: string) => tools.some((tool) => tool.name === name);
  return calls.flatMap((call, n) => {
    if (call.client || results[n] !== undefined) return [];
    // a tool that is not offered does not run, so no approval is needed
    const gate = isOffered(call.name) ? findToolGate(call, decisions?.[n], options) : { kind: "open" as const };
    return [{ call, n, gate }];
  });
}

/** The result of a call, or an error if there is no room for it. */
function fitResult({ share }: Conversation, outcome: ToolOutcome): ToolOutcome {
  try {
    share.add(outcome.text.length);
    return outcome;
  } catch (error) {
    return { ...outcome, status: "failed", text: JSON.stringify({ error: (error as Error).message }), sources: [] };
  }
}

async function finishCall(conversation: Conversation, round: number, { call, n, gate }: OpenCall): Promise<void> {
  const { tools, clientTools, context, onToolError, onFrame } = conversation;
  if (gate.kind === "approved") await conversation.recordStart({ round, call: n });
  const outcome = fitResult(
    conversation,
    gate.kind === "closed"
      ? refuseCall(call.name, gate.reason)
      : await callTool(tools, call, context, onToolError, clientTools),
  );
  await conversation.recordCall({ round, call: n, ...outcome });
  conversation.rounds[round]!.results[n] = outcome;
  onFrame({ type: "called", call: n, status: outcome.status });
}

/** Finishes the calls of a round that may run, then waits for those that need an approval. */
async function finishCalls(conversation: Conversation, round: number): Promise<void> {
  const open = listOpenCalls(conversation, round);
  const queue = open.filter(({ gate }) => gate.kind !== "waits").values();
  const worker = async () => {
    for (const each of queue) await finishCall(conversation, round, each);
  };
  await Promise.all(Array.from({ length: Math.min(MAX_PARALLEL_CALLS, open.length) }, worker));
  const waiting = open.flatMap(({ call, n, gate }) =>
    gate.kind === "waits" ? [{ call, n, approval: gate.approval }] : [],
  );
  if (waiting.length === 0) return;
  const reason = await conversation.park(round, waiting);
  for (const { call, n } of waiting)
    await finishCall(conversation, round, { call, n, gate: { kind: "closed", reason } });
}
