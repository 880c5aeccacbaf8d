import { setTimeout as sleep } from "node:timers/promises";
import type { TurnEnd } from "#events/ports.ts";
import { payerOf } from "#events/runOrigin.ts";
import { spendingOf, type TurnSpending } from "#events/turnEnd.ts";
import type { Prompt } from "#events/thread.ts";
import { StepFailure } from "../tick.ts";
import type { TurnOwner } from "./step.ts";

/** Who the turn of a step is counted for. */
interface Spender {
  organization_id: string;
  principal: string;
  project_id: string | null;
  agent_id: string | null;
  user_mark: string | null;
  /** That the turn names, a model or an alias. */
  model: string;
}

/** A turn that may begin. */
interface Admission {
  /** It did not begin. */
  withdraw(): void;
  /** It ended. */
  end(spending: TurnSpending): void;
  /** US dollars that budgets hold back for it. */
  reserved?: string;
}

/** `refused`: the message of a budget that is used up. `rate_limited`: a limit of a minute or a moment has room later. */
type TurnAnswer = { admitted: Admission } | { refused: string } | { rate_limited: { retry_after_ms: number } };

/** Asks the limits of a turn's spender. */
export type AskLimits = (spender: Spender, turn: AskedTurn) => Promise<TurnAnswer>;

interface AskedTurn {
  turn_id: string;
  /** The model, or the targets of its alias. */
  models: string[];
  prompt: Prompt;
}

/** A turn of a step that the limits admitted. */
export interface AdmittedTurn {
  withdraw(): void;
  end(end: TurnEnd): void;
  reserved: string | undefined;
}

/** A turn of a run is counted for who is behind the run and for its external user, as if they had asked the model themselves. */
export const spenderOf = (
  { organization_id, project_id, asked_by, user_mark }: TurnOwner,
  turn: Pick<Spender, "agent_id" | "model">,
): Spender => ({ organization_id, principal: payerOf(asked_by), project_id, user_mark, ...turn });

/**
 * A budget's words are the step's error, whose own retries may wait for the next period. A limit of a minute or a moment makes
 * the step wait, as long as its timeout allows: fanned-out steps would use up their retries.
 */
export async function admitTurn(
  ask: AskLimits,
  owner: TurnOwner,
  turn: AskedTurn & { agent_id: string | null; model: string },
  signal: AbortSignal,
): Promise<AdmittedTurn> {
  const { agent_id, model, ...asked } = turn;
  const spender = spenderOf(owner, { agent_id, model });
  for (;;) {
    const answer = await ask(spender, asked);
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
