import type { SentFile } from "#events/requestSize.ts";
import { estimateTokens } from "#projections/budgets/estimateTokens.ts";
import type { RateRefusal } from "#projections/budgets/rateRefusal.ts";
import type { TurnAdmission } from "#projections/budgets/rateWatch.ts";
import type { Spender } from "#projections/budgets/subjects.ts";
import { reserveFor, sizeOfPrompt } from "#projections/budgets/reserve.ts";
import { limitReached, markUser, warningHeader } from "../base/limits.ts";
import type { Caller } from "../base/caller.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import type { TurnRequest } from "./turnRequest.ts";

/** The subjects whose limits and budgets count the turn. The project is the key's, else the agent's. */
export const spenderOf = (http: Pick<Http, "keyring">, caller: Caller, request: TurnRequest): Spender => ({
  organization_id: caller.organization_id,
  principal: caller.principal,
  project_id: caller.project_id ?? request.project_id ?? null,
  agent_id: request.agent?.agent_id ?? null,
  user_mark: markUser(http, caller.organization_id, request.user),
  model: request.model,
});

/** Counts the attachments sent inline. The process that runs the turn counts stored files, whose sizes are not known here. */
function inlineFiles({ messages }: TurnRequest): SentFile[] {
  const found: SentFile[] = [];
  for (const { files } of messages)
    for (const file of files)
      if (file.kind === "inline")
        found.push({ mime_type: file.mime_type, bytes: Math.ceil((file.base64.length * 3) / 4) });
  return found;
}

/** Admits the turn under all budgets and limits. Throws 402 `budget_exceeded`, 429 `rate_limited` or 429 `budget_reserved`. */
export async function admitTurn(
  http: Pick<Http, "budgets" | "rates">,
  spender: Spender,
  request: TurnRequest,
  turn_id: string,
): Promise<TurnAdmission> {
  const reached = await http.budgets.check(spender);
  if (reached?.refuses) throw limitReached(reached);
  const texts = request.messages.map(({ text }) => text);
  const reading = http.budgets.reading(spender.organization_id);
  const { priceOf } = reading;
  const models = request.route?.targets ?? [request.model];
  const answer = await http.rates.admit(reading, spender, {
    turn_id,
    tokens: estimateTokens(request.settings, texts),
    streamed: request.streamed,
    cost: priceOf ? reserveFor(priceOf, models, sizeOfPrompt(request.settings, texts, inlineFiles(request))) : 0n,
  });
  if ("spent" in answer) throw limitReached(answer.spent);
  const decision = "refused" in answer ? answer.refused : answer.admitted;
  http.budgets.note(spender.organization_id, decision.reached);
  if ("refused" in answer) throw refusedFor(answer.refused);
  const { admitted } = answer;
  return reached ? { ...admitted, headers: { ...admitted.headers, ...warningHeader(reached) } } : admitted;
}

const refusedFor = ({ code, message, retry_after_ms, isFinal, headers }: RateRefusal) =>
  new ApiError(code, message, { retryAfterMs: retry_after_ms, isFinal, headers });
