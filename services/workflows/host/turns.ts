import { setTimeout as sleep } from "node:timers/promises";
import type { Answer, Command, Recorded } from "#events/envelope.ts";
import { idFrom, streamOf } from "#events/ids.ts";
import type { Blobs, EventLog, Frames, Keyring, TurnEnd } from "#events/ports.ts";
import { scopeOfRun } from "#events/scope.ts";
import { StartTurn, type AgentOfTurn, type Prompt } from "#events/thread.ts";
import { thread, type ThreadState } from "../../deciders/thread.ts";
import { stateOf } from "../../states.ts";
import { StepFailure } from "../tick.ts";
import { endIn } from "./ends.ts";
import { wrong } from "./input.ts";
import type { AskingStep } from "./step.ts";

/** A longer prompt is kept beside the log, in bytes of JSON. */
const MAX_IN_EVENT = 128 * 1024;
const COMMAND_MS = 15_000;
/** Without a word for so long, the log is asked whether the turn has ended. */
const SILENCE_MS = 2_000;
/** How long another turn of the same thread is waited for, and how often it is looked. */
const BUSY_MS = 20_000;
const BUSY_AGAIN_MS = 100;

export interface TurnDeps {
  log: Pick<EventLog, "heads" | "read">;
  /** Handles a command here, or has it handled elsewhere. */
  handle(command: Command): Promise<Answer>;
  frames: Pick<Frames, "subscribe">;
  blobs: Pick<Blobs, "put">;
  keyring: Pick<Keyring, "create" | "sealLarge">;
  /** How long a turn may take, in milliseconds. */
  turn_ms: number;
}

export interface TurnAsk {
  /** What was asked, and which of the equal calls of the attempt this is: the same in every attempt. */
  call: string[];
  model: string;
  prompt: Prompt;
  agent?: AgentOfTurn;
  /** Of a thread to go on with. */
  thread_id: string | null;
}

interface Ids {
  thread_id: string;
  turn_id: string;
  command_id: string;
}

export interface Taken extends Pick<Ids, "thread_id" | "turn_id"> {
  end: Extract<TurnEnd, { status: "completed" }>;
}

/** A call has ids of its own for each time that it was begun, because what came to nothing stays so. */
function idsOf({ run_id, key }: AskingStep, { call, thread_id }: TurnAsk, times: number): Ids {
  const id = (what: string) => idFrom("call of a step", what, run_id, key, ...call, String(times));
  return {
    thread_id: thread_id ?? id("thread"),
    turn_id: id("turn"),
    command_id: `${id("command")}${id("its other half")}`.replaceAll("-", ""),
  };
}

const isStartOf = ({ type, data }: Recorded, turn_id: string): boolean =>
  type === "TurnStarted" && (data as { turn_id: string }).turn_id === turn_id;

interface Place {
  ids: Ids;
  begun: boolean;
  /** How it ended, where it did. */
  end?: TurnEnd;
}

/** Where a call stands: earlier attempts have begun it, each at most once more, or it is to be begun. */
async function placeOf({ log }: TurnDeps, step: AskingStep, ask: TurnAsk): Promise<Place> {
  const tries = Array.from({ length: step.attempt }, (_, times) => idsOf(step, ask, times));
  const first = { ids: tries[0]!, begun: false };
  if (step.attempt === 1) return first;
  const heads = await log.heads(tries.map(({ thread_id }) => streamOf("thread", thread_id)));
  const read = new Map<string, Recorded[]>();
  for (const [times, ids] of [...tries.entries()].toReversed()) {
    const stream = streamOf("thread", ids.thread_id);
    if (!heads.has(stream)) continue;
    const events = read.get(stream) ?? (await log.read(stream));
    read.set(stream, events);
    if (!events.some((event) => isStartOf(event, ids.turn_id))) continue;
    const end = endIn(events, ids.turn_id);
    const anew = end && end.status !== "completed" ? tries[times + 1] : undefined;
    return anew ? { ids: anew, begun: false } : { ids, begun: true, end };
  }
  return first;
}

/** The prompt in the command, or as a blob with the data key that opens it. */
async function inputOf({ blobs, keyring }: TurnDeps, { organization_id }: AskingStep, ids: Ids, prompt: Prompt) {
  const json = Buffer.from(JSON.stringify(prompt));
  if (json.length <= MAX_IN_EVENT) return { input: { prompt } };
  const thing = streamOf("turn", ids.turn_id);
  const key = keyring.create(thing);
  const folder = `${organization_id}/${streamOf("thread", ids.thread_id)}/${thing}`;
  const prompt_blob = await blobs.put(folder, await keyring.sealLarge(thing, key, json));
  return { input: { prompt_blob }, keys: { [thing]: key } };
}

/** The command that begins the turn, less its times. */
async function startOf(deps: TurnDeps, step: AskingStep, ask: TurnAsk, { turn_id, thread_id, command_id }: Ids) {
  const { input, keys } = await inputOf(deps, step, { turn_id, thread_id, command_id }, ask.prompt);
  const continues = ask.thread_id !== null;
  return {
    id: command_id,
    type: StartTurn.type,
    stream: streamOf("thread", thread_id),
    organization_id: step.organization_id,
    principal: "system" as const,
    request_id: step.run_id,
    fresh: !continues,
    ...(keys && { keys }),
    data: {
      turn_id,
      // whom its threads belong to: the run alone, which may go on with each
      scope: scopeOfRun(step.run_id),
      model: ask.model,
      streamed: false,
      continues,
      input,
      ...(ask.agent && { agent: ask.agent }),
    },
  };
}

async function begin(deps: TurnDeps, step: AskingStep, ask: TurnAsk, ids: Ids, signal: AbortSignal): Promise<void> {
  const { data, ...start } = await startOf(deps, step, ask, ids);
  const at = (ms: number) => new Date(ms).toISOString();
  for (const giveUpAt = Date.now() + BUSY_MS; ; await sleep(BUSY_AGAIN_MS, undefined, { signal })) {
    const now = Date.now();
    const times = { at: at(now), deadline: at(now + COMMAND_MS) };
    const { rejection } = await deps.handle({ ...start, ...times, data: { ...data, ends_by: at(now + deps.turn_ms) } });
    if (!rejection) return;
    if (rejection.code === "thread_not_found") throw wrong("agent: thread_id: the run has no such thread.");
    if (rejection.code !== "thread_busy" || now > giveUpAt) throw new StepFailure("step_error", rejection.message);
  }
}

/** The end of a turn as the log tells it, looked for after each silence. */
async function endInLog({ log }: TurnDeps, { thread_id, turn_id }: Ids, signal: AbortSignal): Promise<TurnEnd> {
  const stream = streamOf("thread", thread_id);
  for (;;) {
    await sleep(SILENCE_MS, undefined, { signal });
    const head = (await log.heads([stream])).get(stream);
    const state: ThreadState = head ? (await stateOf(log, head, thread)).state : thread.initial;
    if (state.status === "open" && state.turn?.id === turn_id) continue;
    const end = endIn(await log.read(stream), turn_id);
    if (end) return end;
  }
}

function completed(end: TurnEnd): Taken["end"] {
  if (end.status === "completed") return end;
  if (end.status === "refused" && end.code === "model_not_found") throw wrong(end.message);
  throw new StepFailure("step_error", end.message || "The model provider returned an error.");
}

/**
 * The turn of a call, taken once: an attempt that repeats a call of an earlier one takes up the turn that was begun then,
 * and begins another only where that one came to nothing. Throws StepFailure; throws when the signal is aborted, and the
 * turn goes on.
 */
export async function takeTurn(deps: TurnDeps, step: AskingStep, ask: TurnAsk, signal: AbortSignal): Promise<Taken> {
  const { ids, begun, end } = await placeOf(deps, step, ask);
  const { thread_id, turn_id } = ids;
  if (end) return { thread_id, turn_id, end: completed(end) };
  const heard = Promise.withResolvers<TurnEnd>();
  const close = deps.frames.subscribe(step.organization_id, turn_id, (frame) => {
    if (frame.type === "end") heard.resolve(frame.end);
  });
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  try {
    if (!begun) await begin(deps, step, ask, ids, signal);
    // the last frame may be lost, or told to another process
    const first = await Promise.race([heard.promise, endInLog(deps, ids, either)]);
    return { thread_id, turn_id, end: completed(first) };
  } finally {
    over.abort();
    close();
  }
}
