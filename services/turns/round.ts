import type { Recorded } from "#events/envelope.ts";
import type { Citation, Said, Source, ThreadEvent, ToolCall, Usage } from "#events/thread.ts";
import { NO_USAGE } from "#events/thread.ts";
import type { ModelMessage } from "./model.ts";

/** What a call of a round came to, as the model gets to read it. */
export interface RoundResult {
  status: "completed" | "failed";
  text: string;
  sources: Source[];
}

/** An answer of the model that asked for tools, as it is recorded. */
export interface Round extends Said {
  calls: ToolCall[];
  opaque?: unknown;
  usage: Usage;
  /** By call; absent where it has not been made yet. */
  results: (RoundResult | undefined)[];
}

/** Between the words of two rounds, which else would run into each other. */
export const seam = (before: string, after: string): string =>
  before === "" || after === "" || /\s$/.test(before) || /^\s/.test(after) ? "" : "\n\n";

export const shifted = (citation: Citation, by: number): Citation => ({
  ...citation,
  start_index: citation.start_index + by,
  end_index: citation.end_index + by,
});

function joined(before: Said, next: Said): Said {
  const text = before.text + seam(before.text, next.text);
  return {
    text: text + next.text,
    reasoning: before.reasoning + seam(before.reasoning, next.reasoning) + next.reasoning,
    citations: [...before.citations, ...next.citations.map((citation) => shifted(citation, text.length))],
  };
}

export const NOTHING: Said = { text: "", reasoning: "", citations: [] };

/** All that was said in rounds, as one text, with the sources that the model itself cites. */
export const saidIn = (rounds: Said[]): Said => rounds.reduce(joined, NOTHING);

/** Where the model cites nothing itself, the sources that its tools have consulted stand for the whole answer. */
export function withSources(said: Said, rounds: Round[]): Said {
  if (said.citations.length > 0) return said;
  const consulted = new Map<string, Source>();
  for (const source of rounds.flatMap(({ results }) => results.flatMap((result) => result?.sources ?? [])))
    if (!consulted.has(source.url)) consulted.set(source.url, source);
  const end_index = said.text.length;
  const citations = [...consulted.values()].map(({ url, title }) => ({ url, title, start_index: 0, end_index }));
  return { ...said, citations };
}

export const totalUsage = (parts: { usage: Usage }[]): Usage =>
  parts.reduce(
    (sum, { usage }) => ({
      prompt_tokens: sum.prompt_tokens + usage.prompt_tokens,
      completion_tokens: sum.completion_tokens + usage.completion_tokens,
      cached_tokens: sum.cached_tokens + usage.cached_tokens,
      reasoning_tokens: sum.reasoning_tokens + usage.reasoning_tokens,
    }),
    NO_USAGE,
  );

/** A round whose calls have all been made, as the model is shown it again. */
export const messagesOf = ({ text, calls, opaque, results }: Round): ModelMessage[] => [
  { role: "assistant", parts: text === "" ? [] : [{ type: "text", text }], calls, opaque },
  ...calls.map(
    ({ id }, n): ModelMessage => ({
      role: "tool",
      call_id: id,
      parts: [{ type: "text", text: results[n]?.text ?? "" }],
    }),
  ),
];

type Step = Extract<ThreadEvent, { type: "RoundRequested" | "ToolFinished" }>;
type Finished = NonNullable<Extract<Step, { type: "ToolFinished" }>["personal"]>;

/** Whether an event is a step of a turn. */
export const isStep = ({ type, data }: Pick<Recorded, "type" | "data">, turn: string): boolean =>
  (type === "RoundRequested" || type === "ToolFinished") && (data as { turn_id: string }).turn_id === turn;

/**
 * The rounds of a turn, as the log tells them; `open` reads what is kept in a blob of the turn.
 * Throws when what was recorded was erased.
 */
export async function recordedRounds(
  events: Recorded[],
  turn: string,
  open: (blob: string) => Promise<Buffer | undefined>,
): Promise<Round[]> {
  const rounds: Round[] = [];
  for (const { type, data, personal } of events.filter((event) => isStep(event, turn)) as unknown as Step[]) {
    if (!personal) throw new Error("a recorded step of a running turn was erased");
    if (type === "RoundRequested")
      rounds.push({ ...personal, usage: data.usage, results: personal.calls.map(() => undefined) });
    else rounds[data.round]!.results[data.call] = { status: data.status, ...(await resultOf(personal, open)) };
  }
  return rounds;
}

async function resultOf(
  { output, sources }: Finished,
  open: Parameters<typeof recordedRounds>[2],
): Promise<Omit<RoundResult, "status">> {
  if ("text" in output) return { text: output.text, sources };
  const opened = await open(output.blob);
  return { text: opened?.toString() ?? JSON.stringify({ error: "The result is gone." }), sources };
}
