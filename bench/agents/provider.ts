import { createServer, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/*
 * The mock provider, a process of its own, in OpenAI's shapes. It obeys what the user said last: `{deltas, every_ms}` are words
 * that come at that pace; `{rounds}` are tools that it calls first, one after another. Prints its address when it listens.
 */

interface Asked {
  deltas: number;
  every_ms: number;
  rounds: number;
}
interface ChatRequest {
  model: string;
  stream?: boolean;
  messages: { role: string; content: string | { text?: string }[] }[];
  tools?: { function: { name: string } }[];
}

const textOf = (content: string | { text?: string }[]): string =>
  typeof content === "string" ? content : content.map(({ text }) => text ?? "").join("");

const askedIn = ({ messages }: ChatRequest): Asked => {
  const last = messages.findLast(({ role }) => role === "user");
  return { deltas: 20, every_ms: 0, rounds: 0, ...JSON.parse(last ? textOf(last.content) : "{}") };
};

const answer = async (request: ChatRequest, response: ServerResponse): Promise<void> => {
  const { deltas, every_ms, rounds } = askedIn(request);
  const base = { id: "chatcmpl-mock", object: "chat.completion.chunk", created: 1_700_000_000, model: request.model };
  const write = (delta: unknown, finish_reason: string | null = null): void =>
    void response.write(
      `data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta, logprobs: null, finish_reason }] })}\n\n`,
    );
  response.writeHead(200, { "content-type": "text/event-stream" });
  const lastUser = request.messages.findLastIndex(({ role }) => role === "user");
  const done = request.messages.slice(lastUser).filter(({ role }) => role === "tool").length;
  const tool = request.tools?.[0]?.function.name;
  if (tool && done < rounds) {
    const call = { index: 0, id: `call_${done}`, type: "function", function: { name: tool, arguments: "{}" } };
    write({ role: "assistant", content: null, tool_calls: [call] });
    write({}, "tool_calls");
  } else {
    for (let n = 0; n < deltas; n++) {
      if (n > 0 && every_ms > 0) await sleep(every_ms);
      write({ content: `word${n} ` });
    }
    write({}, "stop");
  }
  const usage = { prompt_tokens: 12, completion_tokens: deltas, total_tokens: 12 + deltas };
  response.write(`data: ${JSON.stringify({ ...base, choices: [], usage })}\n\n`);
  response.end("data: [DONE]\n\n");
};

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    if (request.method === "POST")
      return void answer(JSON.parse(Buffer.concat(parts).toString()) as ChatRequest, response);
    const data = [{ id: "mock", object: "model", created: 1_700_000_000, owned_by: "mock" }];
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ object: "list", data }));
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address !== null && typeof address === "object") console.log(`http://127.0.0.1:${address.port}`);
});
process.on("SIGTERM", () => process.exit());
