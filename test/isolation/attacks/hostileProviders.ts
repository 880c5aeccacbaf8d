import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { startLoopback } from "../../doubles/loopback.ts";
import type { Answer, Attacker } from "../attacker.ts";
import { KIB, many, MIB, type Attack } from "./attack.ts";

/* Providers of an organization's own, of each format, that answer everything but what they should. */

/** How long a client stays at an answer that does not end. */
const PATIENCE_MS = 1_200;
const MAX_CALLS = 200_000;

/** A piece of text and a tool call in each format. */
interface Format {
  begin: string;
  text(text: string): string;
  think(text: string): string;
  call(n: number): string;
}
const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const named = (type: string, more: object): string => `event: ${type}\n${data({ type, ...more })}`;
const chunk = (delta: object): string => data({ choices: [{ index: 0, delta, finish_reason: null }] });
const candidate = (part: object): string =>
  data({ candidates: [{ index: 0, content: { role: "model", parts: [part] } }] });

const FORMATS: Record<"openai" | "anthropic" | "google", Format> = {
  openai: {
    begin: chunk({ role: "assistant" }),
    text: (content) => chunk({ content }),
    think: (reasoning_content) => chunk({ reasoning_content }),
    call: (n) => chunk({ tool_calls: [{ index: n, id: `c${n}`, function: { name: "web_fetch", arguments: "{}" } }] }),
  },
  anthropic: {
    begin:
      named("message_start", { message: { usage: { input_tokens: 1, output_tokens: 1 } } }) +
      named("content_block_start", { index: 0, content_block: { type: "text", text: "" } }) +
      named("content_block_start", { index: 1, content_block: { type: "thinking", thinking: "", signature: "" } }),
    text: (text) => named("content_block_delta", { index: 0, delta: { type: "text_delta", text } }),
    think: (thinking) => named("content_block_delta", { index: 1, delta: { type: "thinking_delta", thinking } }),
    call: (n) =>
      named("content_block_start", {
        index: n + 2,
        content_block: { type: "tool_use", id: `c${n}`, name: "web_fetch", input: {} },
      }),
  },
  google: {
    begin: "",
    text: (text) => candidate({ text }),
    think: (text) => candidate({ text, thought: true }),
    call: () => candidate({ functionCall: { name: "web_fetch", args: {} } }),
  },
};
type Speak = (format: Format, response: ServerResponse) => Promise<void>;

async function writable(response: ServerResponse): Promise<void> {
  const waiting = new AbortController();
  const { signal } = waiting;
  await Promise.race([once(response, "drain", { signal }), once(response, "close", { signal })]);
  waiting.abort();
}

/** Writes as fast as the service reads, until it hangs up. */
async function repeat(response: ServerResponse, piece: string, pause_ms = 0): Promise<void> {
  while (!response.destroyed) {
    if (!response.write(piece)) await writable(response);
    if (pause_ms > 0) await sleep(pause_ms);
  }
}

/** Asks a provider of each format, whole and streamed, several times at once. */
async function askEach(attacker: Attacker, speak: Speak, times = 2): Promise<Answer[]> {
  const ask = async (name: keyof typeof FORMATS): Promise<Answer[]> => {
    const server = await startLoopback(async ({ method }, response) => {
      // what models there are is asked too
      if (method === "GET") return void response.writeHead(404).end();
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(FORMATS[name].begin);
      await speak(FORMATS[name], response);
      response.end();
    });
    const provider = `hostile-${name}`;
    const settings = { api_key: "sk", base_url: server.origin, format: name };
    const answers = [await attacker.owner("PUT", `/api/providers/${provider}`, settings)];
    const body = { model: `${provider}/m`, messages: [{ role: "user", content: "hello" }] };
    answers.push(
      ...(await Promise.all(
        many(2 * times, (n) =>
          attacker.send(
            "POST",
            "/api/openai/v1/chat/completions",
            { ...body, stream: n % 2 === 0 },
            { signal: AbortSignal.timeout(PATIENCE_MS) },
          ),
        ),
      )),
    );
    await server.close();
    return answers;
  };
  return (await Promise.all([ask("openai"), ask("anthropic"), ask("google")])).flat();
}

/** The attacker gets 502 for the failures of its own provider. */
const attack = (title: string, speak: Speak, times?: number): Attack => ({
  title,
  run: (attacker) => askEach(attacker, speak, times),
  mayAnswer: [502],
});

export const hostileProviders: Attack[] = [
  attack("providers of three formats that stream empty pieces without end", (format, response) =>
    repeat(response, format.text("").repeat(500)),
  ),
  attack("providers of three formats that stream words without end", (format, response) =>
    repeat(response, format.text("word ").repeat(500)),
  ),
  attack("providers of three formats that change from text to reasoning all the time", (format, response) =>
    repeat(response, (format.text("t") + format.think("r")).repeat(250)),
  ),
  attack("providers of three formats that stream comments, line ends and unknown events without end", (_, response) =>
    repeat(response, `${": nothing\n".repeat(500)}${"\n".repeat(500)}${"\r\n".repeat(500)}event: x\ndata: 1\n\n`),
  ),
  attack(
    "providers of three formats whose answer is one event of 15 MiB",
    async ({ text }, response) => void response.write(text("word ".repeat(3 * MIB))),
  ),
  attack(
    "providers of three formats with an event of a million numbers, and one that nests 100,000 deep",
    async (_, response) => {
      response.write(`data: [${"0,".repeat(MIB)}0]\n\n`);
      response.write(`data: ${"[".repeat(100 * KIB)}\n\n`);
    },
  ),
  attack("providers of three formats that call 200,000 tools in one answer", async ({ call }, response) => {
    for (let n = 0; n < MAX_CALLS && !response.destroyed; n += 500)
      if (!response.write(many(500, (m) => call(n + m)).join(""))) await writable(response);
  }),
  attack("60 turns at providers that answer a byte at a time", (_, response) => repeat(response, " ", 20), 10),
];
