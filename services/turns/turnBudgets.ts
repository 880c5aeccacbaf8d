import { fromPicodollars, toPicodollars, type Money } from "#events/money.ts";
import { measureJson } from "#events/largeJson.ts";
import { bytesOfOffer, sizeOfFiles, type RequestSize } from "#events/requestSize.ts";
import type { Usage } from "#events/thread.ts";
import type { AskModel } from "./converse.ts";
import { ModelError, type ModelMessage, type ModelRequest, type Part } from "./model.ts";
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

const textBytes = (part: Part): number => (part.type === "text" ? Buffer.byteLength(part.text) : 0);

const sizeOfMessage = (message: ModelMessage): number => {
  const { calls, opaque } = message.role === "assistant" ? message : { calls: undefined, opaque: undefined };
  return (
    message.parts.reduce((sum, part) => sum + textBytes(part), 0) +
    (calls ?? []).reduce((sum, call) => sum + Buffer.byteLength(call.name + call.arguments), 0) +
    (opaque === undefined ? 0 : measureJson(opaque, Number.POSITIVE_INFINITY))
  );
};

/** Size of everything that is sent: conversation, files, rounds, instructions and tools. */
function sizeOfRequest({
  messages,
  instructions,
  tools,
  response_format,
  max_output_tokens,
}: Pick<ModelRequest, "messages" | "instructions" | "tools" | "response_format" | "max_output_tokens">): RequestSize {
  const bytes = messages.reduce((sum, message) => sum + sizeOfMessage(message), 0);
  const files = sizeOfFiles(filesOfRequest({ messages }));
  return {
    bytes: bytes + files.bytes + Buffer.byteLength(instructions ?? "") + bytesOfOffer(tools, response_format),
    pictures: files.pictures,
    max_output_tokens,
  };
}

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
          spent: costOf([...replaced, ...rounds]),
          isFirst: rounds.length === 0,
        };
        await reserveMoney(turn, next, signal);
        return ask(request, rounds, signal, onFrame);
      };
