import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { readJson, serveUntilTerminated } from "../tools/serveUntilTerminated.ts";

/* The fake provider runs as a separate process and answers immediately, with OpenAI's API. */

const CHUNKS = 20;
const usage = { prompt_tokens: 12, completion_tokens: CHUNKS, total_tokens: 12 + CHUNKS };

interface ChatRequest {
  model: string;
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
  messages: { role: string; content: string | { text?: string }[] }[];
}

/** The pieces of the answer. They repeat the question, so that clients notice an answer to another question. */
const answerTo = ({ messages }: ChatRequest): string[] => {
  const content = messages.at(-1)?.content ?? "";
  const question = typeof content === "string" ? content : content.map(({ text }) => text ?? "").join("");
  return Array.from({ length: CHUNKS }, (_, n) => (n === 0 ? `You asked ${question}.` : ` Piece ${n}.`));
};

const send = (response: ServerResponse, body: unknown): void => {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
};

const stream = (response: ServerResponse, request: ChatRequest, base: Record<string, unknown>): void => {
  const frame = (fields: Record<string, unknown>): string =>
    `data: ${JSON.stringify({ ...base, object: "chat.completion.chunk", ...fields })}\n\n`;
  const choice = (delta: unknown, finish_reason: string | null = null) => ({
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
  });
  const frames = answerTo(request).map((content, n) =>
    frame(choice(n === 0 ? { role: "assistant", content } : { content })),
  );
  const last = [frame(choice({}, "stop"))];
  if (request.stream_options?.include_usage) last.push(frame({ choices: [], usage }));
  response.writeHead(200, { "content-type": "text/event-stream" });
  const next = (): void => {
    const chunk = frames.shift();
    if (chunk === undefined) return void response.end(`${last.join("")}data: [DONE]\n\n`);
    response.write(chunk);
    setImmediate(next);
  };
  next();
};

const complete = (response: ServerResponse, request: ChatRequest): void => {
  const base = { id: "chatcmpl-mock", created: 1_700_000_000, model: request.model };
  if (request.stream) return stream(response, request, base);
  const message = { role: "assistant", content: answerTo(request).join(""), refusal: null };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: "stop" }];
  send(response, { ...base, object: "chat.completion", choices, usage });
};

const handle = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
  const body = await readJson(request);
  if (request.method === "POST" && request.url === "/v1/chat/completions")
    return complete(response, body as ChatRequest);
  if (request.url === "/v1/models")
    return send(response, {
      object: "list",
      data: [{ id: "mock", object: "model", created: 1_700_000_000, owned_by: "mock" }],
    });
  return response.writeHead(404).end();
};
serveUntilTerminated(createServer((request, response) => void handle(request, response)));
