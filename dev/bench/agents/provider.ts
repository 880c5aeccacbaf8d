import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { readJson, serveUntilTerminated } from "../tools/serveUntilTerminated.ts";

/*
 * The fake provider runs as a separate process with OpenAI's API. The last user message is a JSON object that controls the answer:
 * it streams `deltas` words, one every `every_ms`, after `rounds` rounds that call the first tool.
 */

interface AnswerPlan {
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

const joinText = (content: string | { text?: string }[]): string =>
  typeof content === "string" ? content : content.map(({ text }) => text ?? "").join("");

const readPlan = ({ messages }: ChatRequest): AnswerPlan => {
  const last = messages.findLast(({ role }) => role === "user");
  return { deltas: 20, every_ms: 0, rounds: 0, ...JSON.parse(last ? joinText(last.content) : "{}") };
};

const answer = async (request: ChatRequest, response: ServerResponse): Promise<void> => {
  const { deltas, every_ms, rounds } = readPlan(request);
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

const handle = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
  const body = await readJson(request);
  if (request.method === "POST") return answer(body as ChatRequest, response);
  const data = [{ id: "mock", object: "model", created: 1_700_000_000, owned_by: "mock" }];
  return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ object: "list", data }));
};
serveUntilTerminated(createServer((request, response) => void handle(request, response)));
