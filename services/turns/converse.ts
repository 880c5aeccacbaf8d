import type { RequestRound, FinishTool } from "#events/thread.ts";
import { NO_USAGE } from "#events/thread.ts";
import type { z } from "zod";
import type { Model, ModelRequest } from "./model.ts";
import { messagesOf, NOTHING, type Round } from "./round.ts";
import type { Speaking } from "#events/ports.ts";
import { speak, type Speech } from "./speak.ts";
import { wordsAfter } from "./telling.ts";
import { callTool } from "./tools/call.ts";
import type { Calling, Tool } from "./tools/tool.ts";

/** Rounds of tools in one turn (spec: Limits). */
const MAX_ROUNDS = 10;
/** Calls of one round; nobody asks for more at once in earnest. */
const MAX_CALLS = 32;
/** Calls that run at once. */
const AT_ONCE = 4;

type Ids = "turn_id" | "attempt";
/** A step of the turn, as it is recorded. */
export type RecordRound = Omit<z.infer<typeof RequestRound.schema>, Ids>;
export type RecordCall = Omit<z.infer<typeof FinishTool.schema>, Ids | "output"> & { text: string };

export interface Conversation {
  model: Model;
  request: ModelRequest;
  /** The rounds so far; those that follow are added, and their results. */
  rounds: Round[];
  tools: Tool[];
  calling: Calling;
  onFrame(frame: Speaking): void;
  /** Resolves once a step is in the log. Throws when the turn is another worker's by now. */
  recordRound(round: RecordRound): Promise<void>;
  recordCall(call: RecordCall): Promise<void>;
  onToolError(error: unknown, tool: string): void;
}

/**
 * Asks the model, runs the tools that it wants and asks again, until it answers or the rounds are used up. Every round is
 * recorded before its tools run, and every call after it: nothing that is in `rounds` is asked or done again. Resolves with
 * the answer that asked for no more. Throws BrokenOff with what was said in the round that broke off.
 */
export async function converse(conversation: Conversation): Promise<Speech> {
  const { model, request, rounds, tools, calling, onFrame } = conversation;
  for (;;) {
    if (rounds.length > 0) await finishCalls(conversation, rounds.length - 1);
    if (rounds.length === MAX_ROUNDS) return { said: NOTHING, calls: [], finish_reason: "stop", usage: NO_USAGE };
    const speech = await speak(model, goingOn(request, rounds), calling.signal, wordsAfter(rounds, onFrame));
    if (!wantsTools(speech) || tools.length === 0) return speech;
    const { said, opaque, usage } = speech;
    const calls = speech.calls.slice(0, MAX_CALLS);
    await conversation.recordRound({ round: rounds.length, usage, ...said, calls, opaque });
    onFrame({ type: "calls", calls });
    rounds.push({ ...said, calls, opaque, usage, results: calls.map(() => undefined) });
  }
}

/** The last call of an answer that was cut off is not whole. Not every provider gives the reason `tool_calls` with calls. */
const wantsTools = ({ calls, finish_reason }: Speech): boolean =>
  calls.length > 0 && (finish_reason === "tool_calls" || finish_reason === "stop");

/** A choice that was forced is kept once; a model that always had to call a tool would never answer. */
const goingOn = (request: ModelRequest, rounds: Round[]): ModelRequest =>
  rounds.length === 0
    ? request
    : { ...request, tool_choice: "auto", messages: [...request.messages, ...rounds.flatMap(messagesOf)] };

/** Makes the calls of a round that have not been made yet, some at a time. */
async function finishCalls(conversation: Conversation, at: number): Promise<void> {
  const { calls, results } = conversation.rounds[at]!;
  const open = calls.map((call, n) => ({ call, n })).filter(({ n }) => results[n] === undefined);
  const work = open.values();
  const worker = async () => {
    for (const { call, n } of work) {
      const { tools, calling, onToolError, onFrame } = conversation;
      const called = await callTool(tools, call, calling, onToolError);
      await conversation.recordCall({ round: at, call: n, ...called });
      results[n] = called;
      onFrame({ type: "called", call: n, status: called.status });
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, open.length) }, worker));
}
