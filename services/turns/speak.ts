import { setTimeout as sleep } from "node:timers/promises";
import type { Citation, FinishReason, Said, ToolCall, Usage } from "#events/thread.ts";
import type { Speaking } from "#events/ports.ts";
import { ModelError, type Model, type ModelRequest } from "./model.ts";

/** Tries at a provider that has said nothing yet. */
const TRIES = 3;
/** A provider may ask to wait this long between two tries; longer is left to the client, who knows its own patience. */
const LONGEST_WAIT_MS = 5_000;

/** A stream has no time limit of its own (spec: Limits); a provider that lets one wait for so long has left it. */
const SILENT_MS = 30 * 60_000;

export interface Speech {
  said: Said;
  /** Tools that the model wants before it goes on. */
  calls: ToolCall[];
  opaque?: unknown;
  finish_reason: FinishReason;
  usage: Usage;
}

/** What was said before it ended otherwise than by the model's own finish. */
export class BrokenOff extends Error {
  readonly said: Said;
  constructor(said: Said, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = "BrokenOff";
    this.said = said;
  }
}

/** Runs one model call; every piece goes to `onFrame` as it comes. Throws BrokenOff with what was said until then. */
async function speakOnce(
  model: Model,
  request: ModelRequest,
  signal: AbortSignal,
  onFrame: (frame: Speaking) => void,
): Promise<Speech> {
  const text: string[] = [];
  const reasoning: string[] = [];
  const citations: Citation[] = [];
  let asked: Pick<Speech, "calls" | "opaque"> = { calls: [] };
  const said = (): Said => ({ text: text.join(""), reasoning: reasoning.join(""), citations });
  const silent = new AbortController();
  const silence = request.streamed ? setTimeout(() => silent.abort(), SILENT_MS) : undefined;
  try {
    for await (const event of model.complete(request, AbortSignal.any([signal, silent.signal]))) {
      silence?.refresh();
      if (event.type === "finish")
        return { said: said(), ...asked, finish_reason: event.finish_reason, usage: event.usage };
      if (event.type === "tool_calls") {
        asked = { calls: event.calls, opaque: event.opaque };
        continue;
      }
      if (event.type === "text") text.push(event.text);
      else if (event.type === "reasoning") reasoning.push(event.text);
      else citations.push(...event.citations);
      onFrame(event);
    }
  } catch (error) {
    const left = silent.signal.aborted && !signal.aborted;
    throw new BrokenOff(said(), left ? new ModelError("refused", "The model said nothing for 30 minutes.") : error);
  } finally {
    clearTimeout(silence);
  }
  throw new BrokenOff(said(), new ModelError("cut", "The model ended without finishing."));
}

const nothing = (said: Said): boolean => said.text === "" && said.reasoning === "";

/** As `speakOnce`, but asks again while nothing was said and the provider's fault may pass. */
export async function speak(
  model: Model,
  request: ModelRequest,
  signal: AbortSignal,
  onFrame: (frame: Speaking) => void,
): Promise<Speech> {
  for (let tried = 1; ; tried++) {
    try {
      return await speakOnce(model, request, signal, onFrame);
    } catch (error) {
      if (!(error instanceof BrokenOff) || !nothing(error.said) || tried === TRIES || signal.aborted) throw error;
      const { cause } = error;
      if (!(cause instanceof ModelError) || cause.kind === "refused") throw error;
      const wait = cause.retry_after_ms ?? 250 * 4 ** (tried - 1);
      if (wait > LONGEST_WAIT_MS) throw error;
      await sleep(wait * (0.75 + Math.random() / 4), undefined, { signal }).catch(() => {
        throw error;
      });
    }
  }
}
