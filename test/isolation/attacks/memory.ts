import type { ServerResponse } from "node:http";
import { startLoopback } from "../../doubles/loopback.ts";
import type { Answer, Attacker } from "../attacker.ts";
import { all, MIB, type Attack } from "./attack.ts";

/* Turns that hold much in memory while they wait for their provider. */

/** How long a client stays at an answer that does not come. */
const PATIENCE_MS = 6_000;

const chunk = (delta: object): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;

const STOP = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

/** Configures the attacker's own provider during `work`. It answers the request for its models with 404. */
async function withProvider(
  attacker: Attacker,
  speak: (response: ServerResponse) => void,
  work: (model: string) => Promise<Answer[]>,
): Promise<Answer[]> {
  const server = await startLoopback(({ method }, response) => {
    if (method === "GET") return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": "text/event-stream" });
    speak(response);
  });
  const settings = { api_key: "sk", base_url: server.origin, format: "openai" };
  const configured = await attacker.owner("PUT", "/api/providers/holding", settings);
  const answers = await work("holding/m");
  await server.close();
  return [configured, ...answers];
}

/** Starts a turn whose client leaves after a while. That does not stop a buffered turn. */
const leave = (
  attacker: Attacker,
  model: string,
  content: string,
  stream: boolean,
  patience_ms = PATIENCE_MS,
): Promise<Answer> =>
  attacker.send(
    "POST",
    "/api/openai/v1/chat/completions",
    { model, stream, messages: [{ role: "user", content }] },
    { signal: AbortSignal.timeout(patience_ms) },
  );

export const memory: Attack[] = [
  {
    title: "120 turns with prompts of 4 MB at a provider that never answers",
    mayAnswer: [502],
    run: (attacker) =>
      withProvider(
        attacker,
        () => undefined,
        async (model) => {
          const answers: Answer[] = [];
          // more at once would be refused: their bodies are the organization's share
          for (let n = 0; n < 15; n++)
            answers.push(...(await all(8, () => leave(attacker, model, "w".repeat(4 * MIB), false, 3_000))));
          return answers;
        },
      ),
  },
  {
    title: "80 turns at a provider that streams 7 MB, and then nothing",
    mayAnswer: [502],
    run: (attacker) =>
      withProvider(
        attacker,
        (response) => void response.write(chunk({ content: "word ".repeat(20_000) }).repeat(70)),
        (model) => all(80, (n) => leave(attacker, model, `${n}`, false)),
      ),
  },
  {
    title: "80 turns at a provider whose one event has 15 MB and never ends",
    mayAnswer: [502],
    run: (attacker) =>
      withProvider(
        attacker,
        (response) => void response.write(`data: "${"x".repeat(15_000_000)}`),
        (model) => all(80, (n) => leave(attacker, model, `${n}`, false)),
      ),
  },
];

/** In a process of their own: what the ones before have left would count. */
export const largePrompts: Attack[] = [
  {
    title: "prompts of 50 MB, one after the other, at a provider that answers",
    mayAnswer: [502],
    run: (attacker) =>
      withProvider(
        attacker,
        (response) => void response.end(`${chunk({ content: "ok" })}${STOP}`),
        async (model) => {
          const answers: Answer[] = [];
          // a line end is written as two bytes, and slow to parse
          for (const letter of ["w", "ü", "\n"]) {
            const written = Buffer.byteLength(JSON.stringify(letter)) - 2;
            answers.push(await leave(attacker, model, letter.repeat((50 * MIB) / written), true, 30_000));
          }
          return answers;
        },
      ),
  },
];
