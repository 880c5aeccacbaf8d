import { Client } from "undici";

/** An endpoint for chat completions. */
export interface Target {
  name: string;
  origin: string;
  path: string;
  headers: Record<string, string>;
  model: string;
}

export interface Question {
  text: string;
  stream: boolean;
  /** The earlier messages, for targets that do not store threads. */
  history?: { role: string; content: string }[];
  thread?: string;
  /** The end user. */
  user?: string;
}

export interface Answer {
  /** Milliseconds from the request to the first byte of the body, and to its end. */
  firstByte: number;
  total: number;
  text: string;
  thread: string | undefined;
}

/** The mock provider's answer to a question. */
export const expectedAnswer = (question: string): string =>
  `You asked ${question}.${Array.from({ length: 19 }, (_, n) => ` Piece ${n + 1}.`).join("")}`;

/** One connection with one request at a time. */
export const connect = (target: Target): Client => new Client(target.origin, { pipelining: 1 });

/** Sends a question. Throws unless the answer is 200 with the expected text. */
export const ask = (target: Target, client: Client, question: Question): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const messages = [...(question.history ?? []), { role: "user", content: question.text }];
    const { stream, user } = question;
    const requestBody = JSON.stringify({ model: target.model, stream, messages, user });
    const parts: Buffer[] = [];
    let status = 0;
    let thread: string | undefined;
    let firstByte: number | undefined;
    const start = performance.now();
    const headers = { ...target.headers, "content-type": "application/json" };
    const request = {
      method: "POST" as const,
      path: target.path,
      headers: question.thread ? { ...headers, "x-thread-id": question.thread } : headers,
      body: requestBody,
    };
    client.dispatch(request, {
      onRequestStart() {},
      onResponseStart(_controller, statusCode, responseHeaders) {
        status = statusCode;
        thread = responseHeaders["x-thread-id"]?.toString();
      },
      onResponseData(_controller, chunk) {
        firstByte ??= performance.now() - start;
        parts.push(chunk);
      },
      onResponseEnd() {
        const total = performance.now() - start;
        const body = Buffer.concat(parts).toString();
        const text = status === 200 ? answerText(body, question.stream) : undefined;
        if (text === expectedAnswer(question.text)) resolve({ firstByte: firstByte ?? total, total, text, thread });
        else reject(new Error(`${target.name} answered ${status} to "${question.text}": ${body.slice(0, 500)}`));
      },
      onResponseError(_controller, error) {
        reject(new Error(`${target.name} did not answer "${question.text}"`, { cause: error }));
      },
    });
  });

const answerText = (body: string, streamed: boolean): string | undefined => {
  if (!streamed)
    return (JSON.parse(body) as { choices: { message: { content: string } }[] }).choices[0]?.message.content;
  const frames = body.split("\n").filter((line) => line.startsWith("data: "));
  if (frames.pop() !== "data: [DONE]") return undefined;
  return frames
    .map((line) => JSON.parse(line.slice("data: ".length)) as { choices: { delta: { content?: string } }[] })
    .map(({ choices }) => choices[0]?.delta.content ?? "")
    .join("");
};
