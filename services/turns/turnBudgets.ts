import { fromPicodollars, toPicodollars, type Money } from "#events/money.ts";
import { measureJson } from "#events/largeJson.ts";
import { bytesOfOffer, sizeOfFiles, type RequestSize } from "#events/requestSize.ts";
import type { Usage } from "#events/thread.ts";
import type { AskModel } from "./converse.ts";
import { ModelError, type ModelMessage, type ModelRequest } from "./model.ts";
import { filesOfRequest } from "./requestFiles.ts";
import type { TurnToRun } from "./turnToRun.ts";

/** A request that a turn is about to send. */
export interface NextRequest {
  size: RequestSize;
  /** US dollars spent by the turn so far, as far as known. */
  spent: Money;
  /** Whether nothing was asked yet: then the turn can be refused without a trace. */
  isFirst: boolean;
}

/** Reserves money for the cost of the next request (ADR 78). Throws LimitReached if a budget has no room. */
export type ReserveMoney = (turn: TurnToRun, next: NextRequest, signal: AbortSignal) => Promise<void>;

/** How budgets and limits follow a turn that runs in this process. */
export interface TurnBudgets {
  reserveMoney: ReserveMoney;
  /** Reports that the turn waits for a person and reserves nothing until it continues. `spent`: the cost of its rounds, as far as known. */
  notePark(turn: TurnToRun, spent: Money): Promise<void>;
  /** Reports that the turn continues after waiting. */
  noteResume(turn: TurnToRun): Promise<void>;
}

/** A budget has no room for the next request of a turn. */
export class LimitReached extends ModelError {
  readonly code: "budget_exceeded" | "budget_reserved";

  constructor(code: LimitReached["code"], message: string, retry_after_ms?: number) {
    super("refused", message, retry_after_ms === undefined ? {} : { retry_after_ms });
    this.code = code;
  }
}

function sizeOfMessage(message: ModelMessage): number {
  let bytes = 0;
  for (const part of message.parts) if (part.type === "text") bytes += Buffer.byteLength(part.text);
  if (message.role !== "assistant") return bytes;
  const { calls, opaque } = message;
  for (const call of calls ?? []) bytes += Buffer.byteLength(call.name + call.arguments);
  return opaque === undefined ? bytes : bytes + measureJson(opaque, Number.POSITIVE_INFINITY);
}

/** Size of everything that is sent: conversation, files, rounds, instructions and tools. Called for every turn: it builds few lists. */
function sizeOfRequest({
  messages,
  instructions,
  tools,
  response_format,
  max_output_tokens,
}: Pick<ModelRequest, "messages" | "instructions" | "tools" | "response_format" | "max_output_tokens">): RequestSize {
  const files = sizeOfFiles(filesOfRequest({ messages }));
  let bytes = files.bytes + bytesOfOffer(tools, response_format);
  if (instructions) bytes += Buffer.byteLength(instructions);
  for (const message of messages) bytes += sizeOfMessage(message);
  return { bytes, pictures: files.pictures, max_output_tokens };
}

const NOTHING_SPENT: Money = "0";

export const costOf = (parts: { usage: Usage }[]): Money =>
  fromPicodollars(parts.reduce((sum, { usage }) => sum + toPicodollars(usage.cost ?? "0"), 0n));

/** Asks only after budgets have reserved the cost of the request. Turns without a budget of money are asked at once. */
export const askWithinBudget = (
  reserveMoney: ReserveMoney,
  turn: TurnToRun,
  { ask, replaced }: { ask: AskModel; replaced: { usage: Usage }[] },
): AskModel =>
  turn.reserved === null
    ? ask
    : async (request, rounds, signal, onFrame) => {
        const next = {
          size: sizeOfRequest(request),
          spent: replaced.length + rounds.length === 0 ? NOTHING_SPENT : costOf([...replaced, ...rounds]),
          isFirst: rounds.length === 0,
        };
        await reserveMoney(turn, next, signal);
        return ask(request, rounds, signal, onFrame);
      };
