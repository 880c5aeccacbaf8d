import { Client } from "undici";

/** Something that answers chat completions. */
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
  /** What was said before; only for targets that keep no threads. */
  history?: { role: string; content: string }[];
  thread?: string;
}

export interface Asked {
  /** Milliseconds from the request to the first byte of the body, and to its end. */
  firstByte: number;
  whole: number;
  text: string;
  thread: string | undefined;
}

/** The mock provider's answer to a question. */
export const rightAnswer = (question: string): string =>
  `You asked ${question}.${Array.from({ length: 19 }, (_, n) => ` Piece ${n + 1}.`).join("")}`;

/** One connection, one request at a time. */
export const connect = (target: Target): Client => new Client(target.origin, { pipelining: 1 });

/** Asks and checks: an answer that is not 200 with the right text throws. */
export const ask = (target: Target, client: Client, question: Question): Promise<Asked> =>
  new Promise((resolve, reject) => {
    const messages = [...(question.history ?? []), { role: "user", content: question.text }];
    const body = JSON.stringify({ model: target.model, stream: question.stream, messages });
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
      body,
    };
    client.dispatch(request, {
      onRequestStart() {},
      onResponseStart(_controller, statusCode, received) {
        status = statusCode;
        thread = received["x-thread-id"]?.toString();
      },
      onResponseData(_controller, chunk) {
        firstByte ??= performance.now() - start;
        parts.push(chunk);
      },
      onResponseEnd() {
        const whole = performance.now() - start;
        const received = Buffer.concat(parts).toString();
        const text = status === 200 ? textOf(received, question.stream) : undefined;
        if (text === rightAnswer(question.text)) resolve({ firstByte: firstByte ?? whole, whole, text, thread });
        else reject(new Error(`${target.name} answered ${status} to "${question.text}": ${received.slice(0, 500)}`));
      },
      onResponseError(_controller, error) {
        reject(new Error(`${target.name} did not answer "${question.text}"`, { cause: error }));
      },
    });
  });

const textOf = (body: string, streamed: boolean): string | undefined => {
  if (!streamed)
    return (JSON.parse(body) as { choices: { message: { content: string } }[] }).choices[0]?.message.content;
  const frames = body.split("\n").filter((line) => line.startsWith("data: "));
  if (frames.pop() !== "data: [DONE]") return undefined;
  return frames
    .map((line) => JSON.parse(line.slice("data: ".length)) as { choices: { delta: { content?: string } }[] })
    .map(({ choices }) => choices[0]?.delta.content ?? "")
    .join("");
};
