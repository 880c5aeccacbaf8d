import { fromPicodollars, toPicodollars, type Money } from "#events/money.ts";
import { measureJson } from "#events/largeJson.ts";
import { sizeOfFiles, type RequestSize } from "#events/requestSize.ts";
import type { Usage } from "#events/thread.ts";
import type { Ask } from "./converse.ts";
import { ModelError, type ModelMessage, type ModelRequest, type Part } from "./model.ts";
import { filesOfRequest } from "./requestFiles.ts";
import type { TurnToRun } from "./turnToRun.ts";

/** A request that a turn is about to send. */
export interface NextRequest {
  size: RequestSize;
  /** US dollars that it has cost so far, as far as known. */
  spent: Money;
  /** Nothing of the turn has been asked yet: it may still be refused without a trace. */
  isFirst: boolean;
}

/** Holds back what the next request of a turn may cost (ADR 78). Throws LimitReached where it does not fit. */
export type HoldMoney = (turn: TurnToRun, next: NextRequest, signal: AbortSignal) => Promise<void>;

/** What budgets and limits learn of a turn that runs here. */
export interface TurnBudgets {
  holdMoney: HoldMoney;
  /** The turn waits for a person, and holds nothing back until it goes on. `spent`: what its rounds have cost, as far as known. */
  notePark(turn: TurnToRun, spent: Money): Promise<void>;
  /** The turn goes on after it waited: it is under way again. */
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

/** Everything that is sent: the conversation with its files and rounds, the instructions and the tools. */
export function sizeOfRequest({
  messages,
  instructions,
  tools,
  response_format,
  max_output_tokens,
}: Pick<ModelRequest, "messages" | "instructions" | "tools" | "response_format" | "max_output_tokens">): RequestSize {
  const bytes = messages.reduce((sum, message) => sum + sizeOfMessage(message), 0);
  const asJson = Buffer.byteLength(JSON.stringify([tools, response_format]));
  const files = sizeOfFiles(filesOfRequest({ messages }));
  return {
    bytes: bytes + files.bytes + Buffer.byteLength(instructions ?? "") + asJson,
    pictures: files.pictures,
    max_output_tokens,
  };
}

export const costOf = (parts: { usage: Usage }[]): Money =>
  fromPicodollars(parts.reduce((sum, { usage }) => sum + toPicodollars(usage.cost ?? "0"), 0n));

/** Asks only once budgets hold back what the request may cost. A turn that no budget of money concerns is asked at once. */
export const askWithinBudget = (
  holdMoney: HoldMoney,
  turn: TurnToRun,
  { ask, replaced }: { ask: Ask; replaced: { usage: Usage }[] },
): Ask =>
  turn.reserved === null
    ? ask
    : async (request, rounds, signal, onFrame) => {
        const next = {
          size: sizeOfRequest(request),
          spent: costOf([...replaced, ...rounds]),
          isFirst: rounds.length === 0,
        };
        await holdMoney(turn, next, signal);
        return ask(request, rounds, signal, onFrame);
      };
