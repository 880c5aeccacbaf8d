import type { Dispatcher } from "undici";

/** A source of streamed answers: the provider itself, or an agent of the service. */
export interface Target {
  origin: string;
  path: string;
  headers: Record<string, string>;
  body(question: object): object;
  /** The text in an SSE frame; undefined if there is none. */
  extractText(data: any): string | undefined;
}

export interface StreamTimes {
  /** Milliseconds from the request to the first frame, to the first words, and to the end. */
  firstFrame: number;
  firstText: number;
  total: number;
  /** Milliseconds between chunks that have text. */
  gaps: number[];
}

export const provider = (origin: string): Target => ({
  origin,
  path: "/v1/chat/completions",
  headers: {},
  body: (question) => ({
    model: "mock",
    stream: true,
    messages: [{ role: "user", content: JSON.stringify(question) }],
  }),
  extractText: ({ choices }) => choices[0]?.delta.content ?? undefined,
});

export const agent = (base_url: string, agent_id: string, api_key: string): Target => ({
  origin: new URL(base_url).origin,
  path: `/api/agents/${agent_id}/v1/responses`,
  headers: { authorization: `Bearer ${api_key}` },
  body: (question) => ({ stream: true, input: JSON.stringify(question) }),
  extractText({ type, delta, response }) {
    if (type === "response.failed") throw new Error(`a turn failed: ${JSON.stringify(response.error)}`);
    return type === "response.output_text.delta" ? delta : undefined;
  },
});

const parseFrames = (text: string): any[] =>
  text
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice("data: ".length)));

/** Requests this many words, measures the stream and checks its text. */
export const measureStream = async (
  client: Dispatcher,
  target: Target,
  question: { deltas: number },
): Promise<StreamTimes> => {
  const start = performance.now();
  const { statusCode, body } = await client.request({
    origin: target.origin,
    path: target.path,
    method: "POST",
    headers: { "content-type": "application/json", ...target.headers },
    body: JSON.stringify(target.body(question)),
  });
  if (statusCode !== 200) throw new Error(`${target.path} answered ${statusCode}: ${await body.text()}`);
  const decoder = new TextDecoder();
  let rest = "";
  let words = "";
  let firstFrame: number | undefined;
  const times: number[] = [];
  for await (const chunk of body) {
    const now = performance.now() - start;
    firstFrame ??= now;
    const text = rest + decoder.decode(chunk as Buffer, { stream: true });
    const end = text.lastIndexOf("\n\n") + 2;
    rest = text.slice(end);
    const pieceText = parseFrames(text.slice(0, end))
      .map((data) => target.extractText(data) ?? "")
      .join("");
    if (pieceText === "") continue;
    words += pieceText;
    times.push(now);
  }
  const expected = Array.from({ length: question.deltas }, (_, n) => `word${n} `).join("");
  if (words.trim() !== expected.trim()) throw new Error(`${target.path} answered with ${words.slice(0, 200)}`);
  return {
    firstFrame: firstFrame!,
    firstText: times[0]!,
    total: performance.now() - start,
    gaps: times.slice(1).map((time, n) => time - times[n]!),
  };
};
