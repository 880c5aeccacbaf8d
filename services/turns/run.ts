import type { Recorded } from "#events/envelope.ts";
import type { Blobs, EventLog, Frames, Keyring, Speaking, TurnEnd } from "#events/ports.ts";
import { inSpan, type Attributes } from "#events/spans.ts";
import { CompleteTurn, RefuseTurn, type AgentOfTurn, type Prompt } from "#events/thread.ts";
import { partsOf } from "#events/ids.ts";
import type { Handle } from "../handle.ts";
import { converse } from "./converse.ts";
import { credentialFor, type Credentials } from "./credential.ts";
import { brokenOff, type Cut, type Ending } from "./ending.ts";
import { historyBefore, modelRequest, openBlob, promptOf, type Stores } from "./history.ts";
import { ModelError, type Models, type ToolOffer } from "./model.ts";
import { inSpans } from "./modelSpans.ts";
import { recordedRounds, saidIn, totalUsage, withSources, type Round } from "./round.ts";
import { tellAgain } from "./telling.ts";
import { NotRecorded, stepOf, stepsOf, TurnLost } from "./steps.ts";
import type { Tools } from "./tools/index.ts";
import type { Tool } from "./tools/tool.ts";

export interface TurnRunnerOptions extends Omit<Stores, "keyring" | "blobs">, Omit<Credentials, "log" | "keyring"> {
  keyring: Keyring;
  blobs: Pick<Blobs, "get" | "put">;
  log: EventLog;
  frames: Frames;
  models: Models;
  tools: Tools;
  handle: Handle;
  /** Tokens of a text, where a provider could not say (a stopped or cut answer). */
  countTokens(text: string): Promise<number>;
  /** A tool failed in a way that no model can help. */
  onToolError(error: unknown, turn: TurnToRun, tool: string): void;
}

export interface TurnToRun {
  organization_id: string;
  thread: string;
  turn_id: string;
  attempt: number;
  model: string;
  streamed: boolean;
  agent: AgentOfTurn | undefined;
  ends_by: string;
  request_id: string;
  /** Version of TurnStarted in the thread; 1 means there is no history. */
  version: number;
  input: { prompt: Prompt } | { prompt_blob: string } | undefined;
  /** What earlier attempts have recorded: events of its thread, with the turn's rounds and calls among them. */
  steps: Recorded[];
  /** What readers were told by the attempt before this one. */
  heard: Speaking[];
}

const aboutTurn = ({ organization_id, thread, turn_id, attempt, model, streamed }: TurnToRun): Attributes => ({
  "svc.organization_id": organization_id,
  "svc.thread_id": partsOf(thread).id,
  "svc.turn_id": turn_id,
  "svc.attempt": attempt,
  "svc.streamed": streamed,
  "svc.model": model,
});

/**
 * Runs a turn to its end event, or until `leaving` is aborted: then it is another worker's. Never throws for what a provider
 * does; throws when the log cannot be written.
 */
export const runTurn = (options: TurnRunnerOptions, turn: TurnToRun, leaving: AbortSignal): Promise<void> =>
  inSpan("turn", { attributes: aboutTurn(turn) }, (note) => run(options, turn, leaving, note));

async function run(
  options: TurnRunnerOptions,
  turn: TurnToRun,
  leaving: AbortSignal,
  note: (attributes: Attributes) => void,
): Promise<void> {
  const { frames } = options;
  const cut = new AbortController();
  const leave = (): void => cut.abort("lost" satisfies Cut);
  leaving.addEventListener("abort", leave, { once: true });
  const late = setTimeout(() => cut.abort("late" satisfies Cut), Math.max(1, Date.parse(turn.ends_by) - Date.now()));
  const unsubscribe = turn.streamed
    ? frames.onStop(turn.organization_id, turn.turn_id, (why) => cut.abort(why satisfies Cut))
    : () => {};
  let n = 0;
  const told: Speaking[] = [];
  const tell = turn.streamed ? frames.publish : frames.tell;
  const publish = (frame: Speaking | { type: "end"; position: number; end: TurnEnd }) =>
    tell(turn.organization_id, turn.turn_id, { ...frame, attempt: turn.attempt, n: n++ });

  try {
    const ending = await answer(options, turn, cut.signal, (frame) => {
      if (turn.agent) told.push(frame);
      if (turn.streamed) publish(frame);
    });
    // a response's stream can be read again, also when the bus has forgotten it
    const kept = turn.agent && { frames: await stepsOf(options, turn).keepTold(told) };
    note({ "svc.status": ending.end.status });
    const done = await options.handle(stepOf(turn, ending.command, { ...ending.data, ...kept }));
    // Position 0: the turn had been taken over or deleted meanwhile, and whoever has it now says how it ends.
    if (done.position > 0) publish({ type: "end", position: done.position, end: ending.end });
  } catch (error) {
    cut.abort("lost" satisfies Cut);
    if (!(error instanceof TurnLost)) throw error;
  } finally {
    clearTimeout(late);
    leaving.removeEventListener("abort", leave);
    unsubscribe();
  }
}

async function answer(
  options: TurnRunnerOptions,
  turn: TurnToRun,
  signal: AbortSignal,
  onFrame: (frame: Speaking) => void,
): Promise<Ending> {
  let prompt: Prompt | undefined;
  const rounds: Round[] = [];
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
    if (turn.steps.length > 0) {
      rounds.push(...(await recordedRounds(turn.steps, turn.turn_id, (blob) => openBlob(options, turn.turn_id, blob))));
      tellAgain(rounds, turn.heard, onFrame);
    }
    const { organization_id, turn_id, model, streamed } = turn;
    const own = options.models.open(credential);
    const tools = await offered(options.tools, organization_id, prompt);
    const last = await converse({
      model: inSpans(own, provider),
      request: await modelRequest(options, { id: turn_id, model, streamed }, prompt, tools.map(offerOf), history),
      rounds,
      tools,
      calling: {
        organization_id,
        turn_id,
        thread_id: partsOf(turn.thread).id,
        user: prompt.user,
        vars: prompt.vars,
        collections: prompt.knowledge?.collections ?? null,
        signal,
      },
      onFrame,
      ...stepsOf(options, turn),
      onToolError: (error, tool) => options.onToolError(error, turn, tool),
    });
    const { finish_reason } = last;
    const said = withSources(saidIn([...rounds, last.said]), rounds);
    const usage = totalUsage([...rounds, last]);
    return {
      command: CompleteTurn,
      data: { finish_reason, usage, said },
      end: { status: "completed", said, finish_reason, usage },
    };
  } catch (error) {
    if (error instanceof TurnLost || error instanceof NotRecorded) throw error;
    if (signal.reason === ("lost" satisfies Cut)) throw new TurnLost("it is left to another worker", { cause: error });
    const ending = await brokenOff(options, error, { prompt, rounds, of_agent: turn.agent !== undefined, signal });
    // as if it had not been asked, like all else in that thread
    if (ending.command === RefuseTurn && signal.reason === ("deleted" satisfies Cut))
      throw new TurnLost("its thread is deleted", { cause: error });
    return ending;
  }
}

const offerOf = ({ name, description, parameters }: Tool): ToolOffer => ({ name, description, parameters });

/** A turn without tools asks nobody. */
const offered = async (tools: Tools, organization: string, { tools: names, tool_choice }: Prompt): Promise<Tool[]> =>
  tool_choice === "none" || names.length === 0 ? [] : tools.find(organization, names);

/** A started turn as the log tells it. */
export function turnFrom(
  started: Pick<Recorded, "organization_id" | "stream" | "version" | "data" | "personal"> & {
    meta: Pick<Recorded["meta"], "request_id">;
  },
  attempt: number,
  { steps, heard }: Pick<TurnToRun, "steps" | "heard"> = { steps: [], heard: [] },
): TurnToRun {
  const { turn_id, model, streamed, agent, ends_by } = started.data as {
    turn_id: string;
    model: string;
    streamed: boolean;
    agent?: AgentOfTurn;
    ends_by: string;
  };
  return {
    organization_id: started.organization_id,
    thread: started.stream,
    turn_id,
    attempt,
    model,
    streamed,
    agent,
    ends_by,
    request_id: started.meta.request_id,
    version: started.version,
    input: (started.personal as { input: TurnToRun["input"] } | undefined)?.input,
    steps,
    heard,
  };
}
