import { createServer, type ServerResponse } from "node:http";

/* The mock provider, a process of its own: answers at once, in OpenAI's shapes. Prints its address when it listens. */

const CHUNKS = 20;
const usage = { prompt_tokens: 12, completion_tokens: CHUNKS, total_tokens: 12 + CHUNKS };

interface ChatRequest {
  model: string;
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
  messages: { role: string; content: string | { text?: string }[] }[];
}

/** The pieces of the answer; they name the question, so that a mixed-up answer shows. */
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

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    if (request.method === "POST" && request.url === "/v1/chat/completions")
      return complete(response, JSON.parse(Buffer.concat(parts).toString()) as ChatRequest);
    if (request.url === "/v1/models")
      return send(response, {
        object: "list",
        data: [{ id: "mock", object: "model", created: 1_700_000_000, owned_by: "mock" }],
      });
    response.writeHead(404).end();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address !== null && typeof address === "object") console.log(`http://127.0.0.1:${address.port}`);
});
process.on("SIGTERM", () => process.exit());
