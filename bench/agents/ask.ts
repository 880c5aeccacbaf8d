import type { Dispatcher } from "undici";

/** Where a streamed answer comes from: the provider itself or an agent of the service. */
export interface Target {
  origin: string;
  path: string;
  headers: Record<string, string>;
  body(question: object): object;
  /** Words of one SSE frame, where it brings some. */
  words(data: any): string | undefined;
}

export interface Streamed {
  /** Milliseconds from the request to the first frame, to the first words, and to the end. */
  firstFrame: number;
  firstWords: number;
  whole: number;
  /** Milliseconds between words. */
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
  words: ({ choices }) => choices[0]?.delta.content ?? undefined,
});

export const agent = (base_url: string, agent_id: string, api_key: string): Target => ({
  origin: new URL(base_url).origin,
  path: `/api/agents/${agent_id}/v1/responses`,
  headers: { authorization: `Bearer ${api_key}` },
  body: (question) => ({ stream: true, input: JSON.stringify(question) }),
  words({ type, delta, response }) {
    if (type === "response.failed") throw new Error(`a turn failed: ${JSON.stringify(response.error)}`);
    return type === "response.output_text.delta" ? delta : undefined;
  },
});

const framesIn = (text: string): any[] =>
  text
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice("data: ".length)));

/** Asks for so many words and checks that they came. */
export const ask = async (client: Dispatcher, target: Target, question: { deltas: number }): Promise<Streamed> => {
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
    const said = framesIn(text.slice(0, end))
      .map((data) => target.words(data) ?? "")
      .join("");
    if (said === "") continue;
    words += said;
    times.push(now);
  }
  const wanted = Array.from({ length: question.deltas }, (_, n) => `word${n} `).join("");
  if (words.trim() !== wanted.trim()) throw new Error(`${target.path} said ${words.slice(0, 200)}`);
  return {
    firstFrame: firstFrame!,
    firstWords: times[0]!,
    whole: performance.now() - start,
    gaps: times.slice(1).map((time, n) => time - times[n]!),
  };
};
