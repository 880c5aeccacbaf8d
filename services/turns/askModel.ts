import { setTimeout as sleep } from "node:timers/promises";
import type { FramePayload } from "#events/ports.ts";
import {
  NO_OUTPUT,
  type Citation,
  type FinishReason,
  type ToolCall,
  type TurnOutput,
  type Usage,
} from "#events/thread.ts";
import { linkAborter } from "#events/linkAborter.ts";
import type { UnreportedRequest } from "./estimateUsage.ts";
import { ModelError, type Model, type ModelRequest } from "./model.ts";
import { FirstWordTimeout } from "./nextTarget.ts";
import { filesOfRequest } from "./requestFiles.ts";

/** Attempts at a request whose provider has sent no output yet. */
const MAX_TRIES = 3;
/** The longest wait before a retry that a provider may ask for. A longer one is passed to the client. */
const MAX_RETRY_WAIT_MS = 5_000;

/** Streams have no total time limit (spec: Limits). A request is given up when its provider has sent nothing for this long. */
const SILENCE_TIMEOUT_MS = 30 * 60_000;

/**
 * How often an answer may change between text and reasoning. Each change ends a frame, however short. No model comes near; an answer
 * of single characters in turns would be millions of frames.
 */
const MAX_CHANGES = 10_000;

export interface ModelAnswer {
  output: TurnOutput;
  /** Tools that the model calls before it continues. */
  calls: ToolCall[];
  opaque?: unknown;
  finish_reason: FinishReason;
  usage: Usage;
}

/** The model's answer ended without its finish event. */
export class AnswerInterrupted extends Error {
  /** The part that arrived. */
  readonly output: TurnOutput;
  /** Set if the provider was working on the request: it then charges the prompt, however little has arrived. */
  readonly unreported: UnreportedRequest | undefined;
  /** Whether anything of the answer had arrived, also a piece of a call. */
  readonly hasBegun: boolean;
  constructor(output: TurnOutput, cause: unknown, request?: ModelRequest, hasBegun = false) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = "AnswerInterrupted";
    this.output = output;
    this.hasBegun = hasBegun;
    this.unreported = request && {
      request,
      files: filesOfRequest(request),
      answer: output.text + output.reasoning,
    };
  }
}

/** Aborts a streamed request when its model is silent for too long. A buffered answer has a time limit of its own. */
function watchSilence(signal: AbortSignal, streamed: boolean, firstWordMs: number | undefined) {
  const { signal: until, abort, unlink } = linkAborter(signal);
  let timer = streamed ? setTimeout(abort, firstWordMs ?? SILENCE_TIMEOUT_MS) : undefined;
  let isFirst = firstWordMs !== undefined;
  return {
    until,
    isSilent: () => until.aborted && !signal.aborted,
    error: () =>
      isFirst
        ? new FirstWordTimeout("transient", `The model said nothing for ${Math.round(firstWordMs! / 1_000)} s.`)
        : new ModelError("refused", "The model said nothing for 30 minutes."),
    onWord(): void {
      if (!isFirst) return void timer?.refresh();
      isFirst = false;
      clearTimeout(timer);
      timer = setTimeout(abort, SILENCE_TIMEOUT_MS);
    },
    stop(): void {
      clearTimeout(timer);
      unlink();
    },
  };
}

/** Returns a function that counts the changes between kinds of pieces. It throws a ModelError above the limit. */
function limitChanges(): (type: FramePayload["type"]) => void {
  let changes = 0;
  let last: FramePayload["type"] | undefined;
  return (type) => {
    if (type !== last) changes += 1;
    last = type;
    if (changes > MAX_CHANGES)
      throw new ModelError("cut", `The provider's answer changes between text and reasoning ${MAX_CHANGES} times.`);
  };
}

/**
 * Asks a model once. Passes each piece of its output to `onFrame` as it arrives. `firstWordMs`: how long a streamed request waits
 * for the first piece. Throws AnswerInterrupted.
 */
export async function askOnce(
  model: Model,
  request: ModelRequest,
  signal: AbortSignal,
  onFrame: (frame: FramePayload) => void,
  firstWordMs?: number,
): Promise<ModelAnswer> {
  // nothing is sent, so nothing is charged
  if (signal.aborted) throw new AnswerInterrupted(NO_OUTPUT, signal.reason);
  const text: string[] = [];
  const reasoning: string[] = [];
  const citations: Citation[] = [];
  let refusal: string | undefined;
  let hasBegun = false;
  let requested: Pick<ModelAnswer, "calls" | "opaque"> = { calls: [] };
  const output = (): TurnOutput => ({
    text: text.join(""),
    reasoning: reasoning.join(""),
    citations,
    ...(refusal !== undefined && { refusal }),
  });
  const silence = watchSilence(signal, request.streamed, firstWordMs);
  const countChange = limitChanges();
  try {
    for await (const event of model.complete(request, silence.until)) {
      silence.onWord();
      hasBegun = true;
      if (event.type === "progress") continue;
      if (event.type === "finish")
        return { output: output(), ...requested, finish_reason: event.finish_reason, usage: event.usage };
      if (event.type === "tool_calls") {
        requested = { calls: event.calls, opaque: event.opaque };
        continue;
      }
      countChange(event.type);
      if (event.type === "text") text.push(event.text);
      else if (event.type === "reasoning") reasoning.push(event.text);
      else if (event.type === "refusal") refusal = event.text;
      else citations.push(...event.citations);
      onFrame(event);
    }
  } catch (error) {
    // a provider that is silent but has the request is working on it, and charges it
    const wasWorking = hasBegun || silence.until.aborted;
    throw new AnswerInterrupted(
      output(),
      silence.isSilent() ? silence.error() : error,
      wasWorking ? request : undefined,
      hasBegun,
    );
  } finally {
    silence.stop();
  }
  throw new AnswerInterrupted(output(), new ModelError("cut", "The model ended without finishing."), request, hasBegun);
}

/** Whether a part of the answer has arrived. */
export const hasOutput = ({ output: { text, reasoning, citations, refusal } }: AnswerInterrupted): boolean =>
  text !== "" || reasoning !== "" || citations.length > 0 || refusal !== undefined;

/** Milliseconds until a model that failed `tried` times is asked again; undefined if the provider asks for too long a wait. */
export function backoffDelay(
  { retry_after_ms }: Pick<ModelError, "retry_after_ms">,
  tried: number,
): number | undefined {
  const wait = retry_after_ms ?? 250 * 4 ** (tried - 1);
  return wait > MAX_RETRY_WAIT_MS ? undefined : wait * (0.75 + Math.random() / 4);
}

/** Milliseconds until the next attempt; undefined if a retry cannot help. */
function retryDelay(error: AnswerInterrupted, tried: number): number | undefined {
  const { cause } = error;
  if (hasOutput(error) || tried === MAX_TRIES) return undefined;
  if (!(cause instanceof ModelError) || cause.kind === "refused") return undefined;
  return backoffDelay(cause, tried);
}

/** The retries that a provider has left (see RetryBudget). */
export interface Retries {
  /** Before the first request. */
  count(): void;
  take(): boolean;
}

/** An attempt that is repeated although its provider charges it, because the answer had begun. */
export interface BrokenAttempt {
  unreported: UnreportedRequest;
  cause: unknown;
  duration_ms: number;
}

/**
 * Asks a model once, and again after a transient failure if it has sent no output and `retries` allow it. Passes each piece to
 * `onFrame` as it arrives. `countBroken` counts an answer that broke off and is asked for again. Throws AnswerInterrupted, and what
 * `countBroken` throws.
 */
export async function askModel(
  model: Model,
  request: ModelRequest,
  signal: AbortSignal,
  onFrame: (frame: FramePayload) => void,
  retries: Retries,
  countBroken: (broken: BrokenAttempt) => Promise<void>,
): Promise<ModelAnswer> {
  retries.count();
  for (let tried = 1; ; tried++) {
    const since = performance.now();
    try {
      return await askOnce(model, request, signal, onFrame);
    } catch (error) {
      if (!(error instanceof AnswerInterrupted) || signal.aborted) throw error;
      const duration_ms = Math.round(performance.now() - since);
      const wait = retryDelay(error, tried);
      if (wait === undefined || !retries.take()) throw error;
      await sleep(wait, undefined, { signal }).catch(() => {
        throw error;
      });
      const { unreported, cause } = error;
      if (unreported) await countBroken({ unreported, cause, duration_ms });
    }
  }
}
