import type { FramePayload } from "#events/ports.ts";
import { blockSeparator } from "#events/turnOutput.ts";
import { joinOutputs, shiftCitation, type Round } from "./round.ts";

type Emit = (frame: FramePayload) => void;

export const joinFrames = (frames: FramePayload[], type: "text" | "reasoning"): string =>
  frames.map((frame) => (frame.type === type ? frame.text : "")).join("");

/** Separates the model's next text from earlier rounds and shifts its citations, so that all frames together form the whole answer. */
export function continueAfter(rounds: Round[], emit: Emit): Emit {
  if (rounds.length === 0) return emit;
  const before = joinOutputs(rounds);
  const separators: { text?: string; reasoning?: string } = {};
  return (frame) => {
    switch (frame.type) {
      case "text":
      case "reasoning": {
        const isFirst = separators[frame.type] === undefined;
        const between = (separators[frame.type] ??= blockSeparator(before[frame.type], frame.text));
        return emit({ type: frame.type, text: isFirst ? between + frame.text : frame.text });
      }
      case "citations": {
        const offset = before.text.length + (separators.text?.length ?? 0);
        return emit({
          type: "citations",
          citations: frame.citations.map((citation) => shiftCitation(citation, offset)),
        });
      }
      case "refusal":
      case "target":
      case "calls":
      case "called":
        return emit(frame);
    }
  };
}

interface RoundFrames {
  output: FramePayload[];
  called: FramePayload[];
}

function splitByRound(frames: FramePayload[]): RoundFrames[] {
  const rounds: RoundFrames[] = [{ output: [], called: [] }];
  for (const frame of frames) {
    if (frame.type === "calls") rounds.push({ output: [], called: [] });
    else if (frame.type === "called") rounds.at(-2)?.called.push(frame);
    else rounds.at(-1)!.output.push(frame);
  }
  return rounds;
}

/** A recorded round's output in as few frames as possible. */
function recordedOutput(rounds: Round[], at: number): FramePayload[] {
  const frames: FramePayload[] = [];
  const { reasoning, text, citations } = rounds[at]!;
  const emit = continueAfter(rounds.slice(0, at), (frame) => frames.push(frame));
  if (reasoning !== "") emit({ type: "reasoning", text: reasoning });
  if (text !== "") emit({ type: "text", text });
  if (citations.length > 0) emit({ type: "citations", citations });
  return frames;
}

/**
 * Returns the received frames and the missing rest of the recorded output, or only the recorded frames if the received ones are not
 * a prefix of them.
 */
function completeOutput(received: FramePayload[], recorded: FramePayload[]): FramePayload[] {
  const rest: FramePayload[] = [];
  for (const frame of recorded) {
    if (frame.type === "text" || frame.type === "reasoning") {
      const known = joinFrames(received, frame.type);
      if (!frame.text.startsWith(known)) return recorded;
      if (frame.text.length > known.length) rest.push({ ...frame, text: frame.text.slice(known.length) });
    } else if (!received.some(({ type }) => type === frame.type)) rest.push(frame);
  }
  return [...received, ...rest];
}

/** What readers received of the round that is not recorded yet. */
export const openRoundFrames = (rounds: Round[], received: FramePayload[]): FramePayload[] =>
  splitByRound(received)[rounds.length]?.output ?? [];

/** All frames of a turn so far: those of recorded rounds, then what readers received of the round that is not recorded yet. */
export function framesSoFar(rounds: Round[], received: FramePayload[]): FramePayload[] {
  const frames: FramePayload[] = [];
  replayFrames(rounds, received, (frame) => frames.push(frame));
  return [...frames, ...openRoundFrames(rounds, received)];
}

/**
 * Emits the recorded rounds of an earlier attempt again, for readers who join this attempt. The frames are the same as before, so
 * that readers who count frames stay in step.
 */
export function replayFrames(rounds: Round[], received: FramePayload[], emit: Emit): void {
  const before = splitByRound(received);
  for (const [at, { calls, results }] of rounds.entries()) {
    const { output, called } = before[at] ?? { output: [], called: [] };
    for (const frame of completeOutput(output, recordedOutput(rounds, at))) emit(frame);
    emit({ type: "calls", calls });
    const known = new Set(called.flatMap((frame) => (frame.type === "called" ? [frame.call] : [])));
    const rest = [...results.entries()].flatMap(([call, result]) =>
      result && !known.has(call) ? [{ type: "called" as const, call, status: result.status }] : [],
    );
    for (const frame of [...called, ...rest]) emit(frame);
  }
}
