import { setTimeout as sleep } from "node:timers/promises";
import type { TurnEnd } from "#events/ports.ts";
import { payerOf } from "#events/runOrigin.ts";
import { spendingOf, type TurnSpending } from "#events/turnEnd.ts";
import type { Prompt } from "#events/thread.ts";
import { StepFailure } from "../tick.ts";
import type { TurnOwner } from "./step.ts";

/** Whose limits count a step's turn. */
interface Spender {
  organization_id: string;
  principal: string;
  project_id: string | null;
  agent_id: string | null;
  user_mark: string | null;
  /** The model or alias that the turn names. */
  model: string;
}

/** A turn that is allowed to begin. */
interface Admission {
  /** Reports that the turn did not begin. */
  withdraw(): void;
  /** Reports the end of the turn. */
  end(spending: TurnSpending): void;
  /** US dollars that budgets reserve for it. */
  reserved?: string;
}

/**
 * `refused`: the message of an exhausted budget, or of another limit with its `code`. `rate_limited`: a limit per minute or on
 * concurrency will have room later.
 */
type TurnAnswer =
  | { admitted: Admission }
  | { refused: string; code?: string }
  | { rate_limited: { retry_after_ms: number } };

/** Checks the limits for a turn. */
export type CheckTurnLimits = (spender: Spender, turn: AskedTurn) => Promise<TurnAnswer>;

interface AskedTurn {
  turn_id: string;
  /** The model, or the targets of the alias. */
  models: string[];
  prompt: Prompt;
  /** Whether readers receive its words while it runs. */
  streamed: boolean;
}

/** A step's turn that the limits have admitted. */
export interface AdmittedTurn {
  withdraw(): void;
  end(end: TurnEnd): void;
  reserved: string | undefined;
}

/** A run's turns are counted for the person or key behind the run and for its external user, as if they had asked the model themselves. */
export const spenderOf = (
  { organization_id, project_id, asked_by, user_mark }: TurnOwner,
  turn: Pick<Spender, "agent_id" | "model">,
): Spender => ({ organization_id, principal: payerOf(asked_by), project_id, user_mark, ...turn });

/**
 * Admits a turn. An exhausted budget becomes the step's error, because its retries may wait for the next period. At a limit per
 * minute or on concurrency, the step waits as long as its timeout allows; otherwise fanned-out steps would use up their retries.
 */
export async function admitTurn(
  ask: CheckTurnLimits,
  owner: TurnOwner,
  turn: AskedTurn & { agent_id: string | null; model: string },
  signal: AbortSignal,
): Promise<AdmittedTurn> {
  const { agent_id, model, ...wanted } = turn;
  const spender = spenderOf(owner, { agent_id, model });
  for (;;) {
    const answer = await ask(spender, wanted);
    if ("refused" in answer) throw new StepFailure("step_error", answer.refused);
    if ("admitted" in answer) return settling(answer.admitted);
    await sleep(answer.rate_limited.retry_after_ms, undefined, { signal });
  }
}

const settling = (admission: Admission): AdmittedTurn => ({
  withdraw: admission.withdraw,
  end: (end) => admission.end(spendingOf(end)),
  reserved: admission.reserved,
});
