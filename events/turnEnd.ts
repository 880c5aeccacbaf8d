import type { Money } from "./money.ts";
import type { FinishReason, TurnOutput, Usage } from "./thread.ts";

/** Set if the turn's model is an alias. */
interface RoutedEnd {
  /** The target that answered last. */
  model?: string;
  /** Why targets did not answer, one reason for each request. */
  failed_targets?: string[];
}

/** How a turn ended. Its last frame carries this. */
export type TurnEnd =
  | ({ status: "completed"; said: TurnOutput; finish_reason: FinishReason; usage: Usage } & RoutedEnd)
  /** `code`: of the budget that had no room for the turn's next request. */
  | ({ status: "failed" | "stopped"; said: TurnOutput; message: string; usage: Usage; code?: string } & RoutedEnd)
  /** `retry_after_ms`: the provider was busy and asked for this wait. */
  | { status: "refused"; code: string | null; message: string; retry_after_ms?: number; failed_targets?: string[] };

/** What limits count for a turn that has ended. */
export interface TurnSpending {
  tokens: number;
  /** US dollars; absent: unknown. */
  cost?: Money;
}

/** The tokens of the prompt and the answer, and their cost. A refused turn has spent nothing. */
export const spendingOf = (end: TurnEnd): TurnSpending =>
  end.status === "refused"
    ? { tokens: 0 }
    : {
        tokens: end.usage.prompt_tokens + end.usage.completion_tokens,
        ...(end.usage.cost !== undefined && { cost: end.usage.cost }),
      };
