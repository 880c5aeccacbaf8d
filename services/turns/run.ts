import type { Command, Recorded } from "#events/envelope.ts";
import { newCommandId } from "#events/ids.ts";
import type { EventLog, Frame, Frames, Keyring, TurnEnd } from "#events/ports.ts";
import { CompleteTurn, FailTurn, NO_USAGE, RefuseTurn, StopTurn, type Prompt, type Said } from "#events/thread.ts";
import type { Handle } from "../handle.ts";
import { credentialFor, type Credentials } from "./credential.ts";
import { historyBefore, modelRequest, promptOf, type Stores } from "./history.ts";
import { ModelError, type Models } from "./model.ts";
import { BrokenOff, speak } from "./speak.ts";

export interface TurnRunnerOptions extends Omit<Stores, "keyring">, Omit<Credentials, "log" | "keyring"> {
  keyring: Keyring;
  log: EventLog;
  frames: Frames;
  models: Models;
  handle: Handle;
  /** Tokens of a text, where a provider could not say (a stopped or cut answer). */
  countTokens(text: string): Promise<number>;
}

export interface TurnToRun {
  organization_id: string;
  thread: string;
  turn_id: string;
  attempt: number;
  model: string;
  streamed: boolean;
  ends_by: string;
  request_id: string;
  /** Version of TurnStarted in the thread; 1 means there is no history. */
  version: number;
  input: { prompt: Prompt } | { prompt_blob: string } | undefined;
}

type Ending = {
  command: typeof CompleteTurn | typeof StopTurn | typeof FailTurn | typeof RefuseTurn;
  data: Record<string, unknown>;
  end: TurnEnd;
};

/** Runs a turn to its end event. Never throws for what a provider does; throws when the log cannot be written. */
export async function runTurn(options: TurnRunnerOptions, turn: TurnToRun): Promise<void> {
  const { frames } = options;
  const cut = new AbortController();
  const late = setTimeout(() => cut.abort("late" satisfies Cut), Math.max(1, Date.parse(turn.ends_by) - Date.now()));
  const unsubscribe = turn.streamed
    ? frames.onStop(turn.organization_id, turn.turn_id, () => cut.abort("stopped" satisfies Cut))
    : () => {};
  let n = 0;
  const tell = turn.streamed ? frames.publish : frames.tell;
  const publish = (frame: Frame extends infer F ? (F extends Frame ? Omit<F, "attempt" | "n"> : never) : never) =>
    tell(turn.organization_id, turn.turn_id, { ...frame, attempt: turn.attempt, n: n++ });

  try {
    const ending = await answer(options, turn, cut.signal, (frame) => (turn.streamed ? publish(frame) : undefined));
    const done = await options.handle(endCommand(turn, ending));
    // Position 0: the turn had been taken over or deleted meanwhile, and whoever has it now says how it ends.
    if (done.position > 0) publish({ type: "end", position: done.position, end: ending.end });
  } finally {
    clearTimeout(late);
    unsubscribe();
  }
}

/** Why a turn's signal was aborted: its reader went away, or its time is up. */
type Cut = "stopped" | "late";

async function answer(
  options: TurnRunnerOptions,
  turn: TurnToRun,
  signal: AbortSignal,
  onFrame: Parameters<typeof speak>[3],
): Promise<Ending> {
  let prompt: Prompt | undefined;
  try {
    const provider = turn.model.slice(0, turn.model.indexOf("/"));
    const [credential, asked, history] = await Promise.all([
      credentialFor(options, turn.organization_id, provider),
      promptOf(options, turn.turn_id, turn.input),
      turn.version > 1
        ? options.log.read(turn.thread).then((events) => historyBefore(options, events, turn.turn_id))
        : [],
    ]);
    prompt = asked;
    if (!prompt) throw new ModelError("refused", "The turn's input is gone.");
    const request = await modelRequest(
      options,
      { id: turn.turn_id, model: turn.model, streamed: turn.streamed },
      prompt,
      history,
    );
    const { said, finish_reason, usage } = await speak(options.models.open(credential), request, signal, onFrame);
    return {
      command: CompleteTurn,
      data: { finish_reason, usage, said },
      end: { status: "completed", said, finish_reason, usage },
    };
  } catch (error) {
    return endingOf(options, error, prompt, signal);
  }
}

const NOTHING: Said = { text: "", reasoning: "", citations: [] };

async function endingOf(
  options: TurnRunnerOptions,
  error: unknown,
  prompt: Prompt | undefined,
  { reason }: AbortSignal,
): Promise<Ending> {
  const said = error instanceof BrokenOff ? error.said : NOTHING;
  const cause = error instanceof BrokenOff ? error.cause : error;
  const text = said.text + said.reasoning;
  const usage = text === "" ? NO_USAGE : await estimate(options, prompt, text);
  if (reason === ("stopped" satisfies Cut)) {
    return { command: StopTurn, data: { usage, said }, end: { status: "stopped", said, message: "", usage } };
  }
  const message =
    reason === ("late" satisfies Cut) ? "The model did not finish within the time that a turn has." : messageOf(cause);
  if (text !== "")
    return { command: FailTurn, data: { usage, said, message }, end: { status: "failed", said, message, usage } };
  const code =
    cause instanceof ModelError && cause.kind === "refused" && cause.status === 404 ? "model_not_found" : null;
  return { command: RefuseTurn, data: { code, message }, end: { status: "refused", code, message } };
}

function messageOf(cause: unknown): string {
  return cause instanceof ModelError ? cause.message : "The model could not be asked.";
}

async function estimate(options: TurnRunnerOptions, prompt: Prompt | undefined, text: string) {
  const asked = prompt ? [prompt.instructions ?? "", ...prompt.messages.map((message) => message.text)].join("\n") : "";
  const [prompt_tokens, completion_tokens] = await Promise.all([options.countTokens(asked), options.countTokens(text)]);
  return { ...NO_USAGE, prompt_tokens, completion_tokens };
}

/** Ending a turn must not be given up early: the sweep would only do the same later. */
const END_WITHIN_MS = 60_000;

function endCommand(turn: TurnToRun, ending: Pick<Ending, "command" | "data">): Command {
  return {
    id: newCommandId(),
    type: ending.command.type,
    stream: turn.thread,
    organization_id: turn.organization_id,
    principal: "system",
    at: new Date().toISOString(),
    deadline: new Date(Date.now() + END_WITHIN_MS).toISOString(),
    request_id: turn.request_id,
    data: { turn_id: turn.turn_id, attempt: turn.attempt, ...ending.data },
  };
}

/** A started turn as the log tells it. */
export function turnFrom(
  started: Pick<Recorded, "organization_id" | "stream" | "version" | "data" | "personal"> & {
    meta: Pick<Recorded["meta"], "request_id">;
  },
  attempt: number,
): TurnToRun {
  const { turn_id, model, streamed, ends_by } = started.data as {
    turn_id: string;
    model: string;
    streamed: boolean;
    ends_by: string;
  };
  return {
    organization_id: started.organization_id,
    thread: started.stream,
    turn_id,
    attempt,
    model,
    streamed,
    ends_by,
    request_id: started.meta.request_id,
    version: started.version,
    input: (started.personal as { input: TurnToRun["input"] } | undefined)?.input,
  };
}
