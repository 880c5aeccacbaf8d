import type { RecordedEvent } from "#events/envelope.ts";
import type { Citation, Source, ThreadEvent, ToolCall, TurnOutput, Usage } from "#events/thread.ts";
import { blockSeparator, NO_OUTPUT } from "#events/turnOutput.ts";
import type { ModelMessage } from "./model.ts";
import type { CallDecision } from "./toolGate.ts";

/** The result of a tool call, as the model reads it. */
export interface RoundResult {
  status: "completed" | "failed";
  text: string;
  sources: Source[];
}

/** An answer of the model that calls tools. */
export interface Round extends TurnOutput {
  calls: ToolCall[];
  opaque?: unknown;
  usage: Usage;
  /** The target that answered, if the turn's model is an alias. */
  model?: string;
  /** By index of the call; undefined until it has run. */
  results: (RoundResult | undefined)[];
  /** By index of the call: the decision about it. */
  decisions?: (CallDecision | undefined)[];
}

export const shiftCitation = (citation: Citation, offset: number): Citation => ({
  ...citation,
  start_index: citation.start_index + offset,
  end_index: citation.end_index + offset,
});

function appendOutput(before: TurnOutput, next: TurnOutput): TurnOutput {
  const text = before.text + blockSeparator(before.text, next.text);
  const refusal = next.refusal ?? before.refusal;
  return {
    text: text + next.text,
    reasoning: before.reasoning + blockSeparator(before.reasoning, next.reasoning) + next.reasoning,
    citations: [...before.citations, ...next.citations.map((citation) => shiftCitation(citation, text.length))],
    ...(refusal !== undefined && { refusal }),
  };
}

/** The output of all rounds as one answer, with the model's own citations. */
export const joinOutputs = (rounds: TurnOutput[]): TurnOutput => rounds.reduce(appendOutput, NO_OUTPUT);

/** Cites the sources that tools consulted, each for the whole answer, if the model cites none itself. */
export function citeSources(output: TurnOutput, rounds: Round[]): TurnOutput {
  if (output.citations.length > 0) return output;
  const consulted = new Map<string, Source>();
  for (const source of rounds.flatMap(({ results }) => results.flatMap((result) => result?.sources ?? []))) {
    // a page of a file may have several passages
    const key = `${source.url} ${source.seq}`;
    if (!consulted.has(key)) consulted.set(key, source);
  }
  const end_index = output.text.length;
  const citations = [...consulted.values()].map((source) => ({ ...source, start_index: 0, end_index }));
  return { ...output, citations };
}

/** UTF-16 units of the output of the model and its tools. */
export const sizeOfRounds = (rounds: Round[]): number =>
  rounds.reduce(
    (sum, { text, reasoning, calls, results }) =>
      sum +
      text.length +
      reasoning.length +
      calls.reduce((size, call) => size + call.arguments.length, 0) +
      results.reduce((size, result) => size + (result?.text.length ?? 0), 0),
    0,
  );

/** A finished round as messages to the model: its answer, then one result for each call. */
export const roundMessages = ({ text, calls, opaque, results }: Round): ModelMessage[] => [
  { role: "assistant", parts: text === "" ? [] : [{ type: "text", text }], calls, opaque },
  ...calls.map(
    ({ id }, n): ModelMessage => ({
      role: "tool",
      call_id: id,
      parts: [{ type: "text", text: results[n]?.text ?? "" }],
    }),
  ),
];

const STEPS = ["RoundRequested", "ToolFinished", "ToolApprovalDecided", "ToolApprovalExpired", "ToolStarted"] as const;
type Step = Extract<ThreadEvent, { type: (typeof STEPS)[number] }>;
type FinishedCall = NonNullable<Extract<Step, { type: "ToolFinished" }>["personal"]>;

/** Whether an event records a round of the turn, or a change of one of its calls. */
export const isTurnStep = ({ type, data }: Pick<RecordedEvent, "type" | "data">, turn: string): boolean =>
  (STEPS as readonly string[]).includes(type) && (data as { turn_id: string }).turn_id === turn;

type OpenBlob = (blob: string) => Promise<Buffer | undefined>;

const erased = () => new Error("a recorded step of a running turn was erased");

const openRound = ({ data, personal }: Extract<Step, { type: "RoundRequested" }>): Round => {
  if (!personal) throw erased();
  const { usage, model } = data;
  return {
    ...personal,
    usage,
    ...(model !== undefined && { model }),
    results: personal.calls.map(() => undefined),
    decisions: personal.calls.map(() => undefined),
  };
};

function readDecision(event: Exclude<Step, { type: "RoundRequested" | "ToolFinished" }>): CallDecision {
  if (event.type === "ToolStarted") return { status: "approved", isStarted: true };
  if (event.type === "ToolApprovalExpired") return { status: "expired" };
  return event.data.decision === "approve"
    ? { status: "approved", isStarted: false }
    : { status: "rejected", comment: event.personal?.comment ?? null };
}

/** The turn's rounds in the log; `open` reads a blob of the turn. Throws if a step was erased. */
export async function readRounds(events: RecordedEvent[], turn: string, open: OpenBlob): Promise<Round[]> {
  const rounds: Round[] = [];
  for (const event of events.filter((each) => isTurnStep(each, turn)) as unknown as Step[]) {
    if (event.type === "RoundRequested") {
      rounds.push(openRound(event));
      continue;
    }
    const { round: at, call } = event.data;
    const round = rounds[at]!;
    if (event.type !== "ToolFinished") round.decisions![call] = readDecision(event);
    else if (event.personal)
      round.results[call] = { status: event.data.status, ...(await readResult(event.personal, open)) };
    else throw erased();
  }
  return rounds;
}

async function readResult({ output, sources }: FinishedCall, open: OpenBlob): Promise<Omit<RoundResult, "status">> {
  if ("text" in output) return { text: output.text, sources };
  const bytes = await open(output.blob);
  return { text: bytes?.toString() ?? JSON.stringify({ error: "The result is gone." }), sources };
}
