import type { StopReason, TurnEnd } from "#events/ports.ts";
import { FailTurn, NO_USAGE, RefuseTurn, StopTurn, type CompleteTurn, type Prompt } from "#events/thread.ts";
import { ModelError } from "./model.ts";
import { NOTHING, saidIn, totalUsage, withSources, type Round } from "./round.ts";
import { BrokenOff } from "./speak.ts";

/** Why a turn's signal was aborted: it is to stop, its time is up, or it is another worker's by now. */
export type Cut = StopReason | "late" | "lost";
const CUT: Partial<Record<Cut, string>> = {
  late: "The model did not finish within the time that a turn has.",
  deleted: "The thread was deleted while its turn was running.",
};

/** The command that ends a turn, and what its last frame says. */
export type Ending = {
  command: typeof CompleteTurn | typeof StopTurn | typeof FailTurn | typeof RefuseTurn;
  data: Record<string, unknown>;
  end: TurnEnd;
};

interface Counting {
  /** Tokens of a text, where a provider could not say (a stopped or cut answer). */
  countTokens(text: string): Promise<number>;
}

interface Broken {
  prompt: Prompt | undefined;
  rounds: Round[];
  of_agent: boolean;
  signal: AbortSignal;
}

/** How a turn ends that came to no end of its own: stopped, failed with what was said until then, or refused. */
export async function brokenOff(
  counting: Counting,
  error: unknown,
  { prompt, rounds, of_agent, signal: { reason } }: Broken,
): Promise<Ending> {
  const open = error instanceof BrokenOff ? error.said : NOTHING;
  const cause = error instanceof BrokenOff ? error.cause : error;
  const said = withSources(saidIn([...rounds, open]), rounds);
  const text = open.text + open.reasoning;
  const usage = totalUsage([...rounds, { usage: text === "" ? NO_USAGE : await estimate(counting, prompt, text) }]);
  if (reason === ("stopped" satisfies Cut)) {
    return { command: StopTurn, data: { usage, said }, end: { status: "stopped", said, message: "", usage } };
  }
  const message = CUT[reason as Cut] ?? messageOf(cause);
  // A turn whose tools have run did happen: what it took is counted, and nobody runs them again for the same request.
  // A response has been promised its id, and ends as failed.
  if (text !== "" || rounds.length > 0 || of_agent)
    return { command: FailTurn, data: { usage, said, message }, end: { status: "failed", said, message, usage } };
  const code =
    cause instanceof ModelError && cause.kind === "refused" && cause.status === 404 ? "model_not_found" : null;
  return { command: RefuseTurn, data: { code, message }, end: { status: "refused", code, message } };
}

function messageOf(cause: unknown): string {
  return cause instanceof ModelError ? cause.message : "The model could not be asked.";
}

async function estimate({ countTokens }: Counting, prompt: Prompt | undefined, text: string) {
  const asked = prompt ? [prompt.instructions ?? "", ...prompt.messages.map((message) => message.text)].join("\n") : "";
  const [prompt_tokens, completion_tokens] = await Promise.all([countTokens(asked), countTokens(text)]);
  return { ...NO_USAGE, prompt_tokens, completion_tokens };
}
