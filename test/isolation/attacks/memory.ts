import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { startLoopback } from "../../doubles/loopback.ts";
import type { Answer, Attacker } from "../attacker.ts";
import { all, many, MIB, type Attack } from "./attack.ts";

/* Work that holds much in memory while it waits: for a provider, for a page, for an event, for the next request. */

/** How long a client stays at an answer that does not come. */
const PATIENCE_MS = 6_000;
const HOLD_MS = 2_000;

const chunk = (delta: object): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;

const STOP = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

/** A provider of the attacker's own while `work` goes on. It answers the question which models it has with 404. */
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

/** Turns whose client leaves after a while; the turn goes on. A buffered one is not stopped by that. */
const leave = (attacker: Attacker, model: string, content: string, stream: boolean): Promise<Answer> =>
  attacker.send(
    "POST",
    "/api/openai/v1/chat/completions",
    { model, stream, messages: [{ role: "user", content }] },
    { signal: AbortSignal.timeout(PATIENCE_MS) },
  );

const GREEDY = `export const steps = { one: ({ n }) => String(n).padEnd(1000000, "x") };
export async function run(ctx) {
  await ctx.runStepMany("one", Array.from({ length: 28 }, (_, n) => ({ n })), { concurrency: 7 });
  await ctx.waitForEvent("never", { timeout: "1h" });
  return ctx.complete(1);
}`;

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
          for (let n = 0; n < 15; n++)
            answers.push(...(await Promise.all(many(8, () => leave(attacker, model, "w".repeat(4 * MIB), false)))));
          return answers;
        },
      ),
  },
  {
    title: "prompts of 60 MB, one after the other, at a provider that answers",
    mayAnswer: [502],
    run: (attacker) =>
      withProvider(
        attacker,
        (response) => void response.end(`${chunk({ content: "ok" })}${STOP}`),
        async (model) => {
          const answers: Answer[] = [];
          for (const letter of ["w", "ü"])
            answers.push(await leave(attacker, model, letter.repeat((60 * MIB) / Buffer.byteLength(letter)), true));
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
  {
    title: "60 responses whose tool reads four pages of 9 MB at once",
    mayAnswer: [502],
    async run(attacker) {
      const site = await startLoopback(
        (_, response) => void response.writeHead(200, { "content-type": "text/plain" }).end("word ".repeat(1_800_000)),
      );
      const calls = many(4, (index) => ({
        index,
        id: `c${index}`,
        function: { name: "web_fetch", arguments: JSON.stringify({ url: `${site.origin}/${index}.txt` }) },
      }));
      const answers = await withProvider(
        attacker,
        (response) => void response.end(`${chunk({ tool_calls: calls })}${STOP.replace("stop", "tool_calls")}`),
        async (model) => {
          const agent = await attacker.create("/api/agents", {
            name: `Reader ${Math.random()}`,
            model,
            instructions: "",
            tools: ["web_fetch"],
            api_enabled: true,
          });
          return all(60, (n) =>
            attacker.send(
              "POST",
              `/api/agents/${agent.id}/v1/responses`,
              { input: `${n}` },
              { signal: AbortSignal.timeout(2 * PATIENCE_MS) },
            ),
          );
        },
      );
      await site.close();
      return answers;
    },
  },
  {
    title: "60 runs that hold 28 MB of results each, and wait",
    async run(attacker) {
      const name = `greedy_${Math.random().toString(36).slice(2)}`;
      const definition = await attacker.create("/api/definitions", { type: "workflow", name, source: GREEDY });
      const workflow = await attacker.create("/api/workflows", { definition_id: definition.id });
      const answers = await all(60, () => attacker.owner("POST", `/api/workflows/${workflow.id}/runs`, { args: {} }));
      await sleep(10 * HOLD_MS);
      await attacker.owner("POST", "/api/workflows/runs/change", { action: "cancel", filter: {}, dry_run: false });
      return answers;
    },
  },
  {
    title: "4,000 connections that say nothing more after a request",
    async run(attacker) {
      const head = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
      for (let n = 0; n < 40; n++) {
        for (const _ of many(100, () => 0)) attacker.open(head);
        await sleep(25);
      }
      await sleep(HOLD_MS);
      attacker.closeSockets();
      return [];
    },
  },
];
