import { join } from "node:path";
import { Agent } from "undici";
import { startNode } from "../tools/child.ts";
import { orInterrupted } from "../tools/interrupted.ts";
import { progress } from "../tools/progress.ts";
import type { Report } from "../tools/report.ts";
import { startService, type Service } from "../tools/service.ts";
import { median, percentile, rounded } from "../tools/stats.ts";
import { agent, ask, provider, type Streamed, type Target } from "./ask.ts";
import { measureScripts } from "./scripts.ts";

const TURNS = 200;
const ROUNDS = 8;
const ROUND_TURNS = 20;
const STREAMS = 200;
const PACE = { deltas: 60, every_ms: 100 };
const TOOL =
  "export const meta = { description: 'Does nothing' };\nexport const execute = async () => ({ done: true });\n";

const client = new Agent({ connections: STREAMS, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });

/** An agent on the mock model, with these scripted tools. */
const makeAgent = async ({ credentials, callAs }: Service, tools: string[]): Promise<Target> => {
  const { token } = await callAs("")("POST", "/api/auth/login", credentials.admin, [200]);
  const person = callAs(token);
  for (const name of tools) await person("POST", "/api/definitions", { type: "tool", name, source: TOOL }, [201]);
  const { id } = await person("POST", "/api/agents", { name: "Bench", model: "openai/mock", tools }, [201]);
  return agent(credentials.base_url, id, credentials.api_key);
};

/** Turns on one connection, by turns, after a quarter as many to warm up. */
const byTurns = async (targets: Target[], turns: number, question: { deltas: number }): Promise<Streamed[][]> => {
  const measured = targets.map((): Streamed[] => []);
  for (let n = -turns / 4; n < turns; n++)
    for (const [at, target] of targets.entries()) {
      const streamed = await ask(client, target, question);
      if (n >= 0) measured[at]!.push(streamed);
    }
  return measured;
};

/** Streams that all run at once; memory of the service is looked at while they do. */
const atOnce = async (target: Target, memory: () => number | null) => {
  let most = memory() ?? 0;
  const look = setInterval(() => (most = Math.max(most, memory() ?? 0)), 500);
  try {
    const streams = await Promise.all(Array.from({ length: STREAMS }, () => ask(client, target, PACE)));
    return { gaps: streams.flatMap(({ gaps }) => gaps), most };
  } finally {
    clearInterval(look);
  }
};

/** Agents: what the service adds to the provider's own time, what tools cost, and many streams at once. */
export const benchAgents = async (): Promise<Report> => {
  const stops: (() => Promise<void>)[] = [];
  const measure = async (): Promise<Report> => {
    progress("starting the mock provider and this service");
    const mock = startNode([join(import.meta.dirname, "provider.ts")]);
    stops.push(mock.stop);
    const origin = await mock.firstLine();
    const service = await startService({ OPENAI_BASE_URL: `${origin}/v1`, OPENAI_API_KEY: "mock" });
    stops.push(service.stop);
    const direct = provider(origin);
    const plain = await makeAgent(service, []);

    progress("turns one after another");
    const [own, turns] = await byTurns([direct, plain], TURNS, { deltas: 20 });
    progress(`${STREAMS} streams at once, directly and through the service`);
    const idle = service.child.memory() ?? 0;
    const alone = await atOnce(direct, () => null);
    const many = await atOnce(plain, service.child.memory);
    progress("tool rounds");
    const tooled = await makeAgent(service, ["noop"]);
    const question = { deltas: 1, rounds: ROUNDS };
    const [once] = await byTurns([direct], ROUND_TURNS, { deltas: 1 });
    const [short] = await byTurns([plain], ROUND_TURNS, { deltas: 1 });
    const [long] = await byTurns([tooled], ROUND_TURNS, question);
    const round =
      (median(long!.map(({ whole }) => whole)) - median(short!.map(({ whole }) => whole))) / ROUNDS -
      median(once!.map(({ whole }) => whole));
    return report(
      { own: own!, turns: turns!, alone: alone.gaps, many: many.gaps, idle, most: many.most, round },
      await measureScripts(),
    );
  };
  try {
    return await orInterrupted(measure);
  } finally {
    progress("stopping");
    await client.destroy();
    for (const stop of stops.reverse()) await stop();
  }
};

interface Measured {
  own: Streamed[];
  turns: Streamed[];
  /** Milliseconds between words, of all streams. */
  alone: number[];
  many: number[];
  /** MiB of the service's processes before the streams, and at most during them. */
  idle: number;
  most: number;
  /** Milliseconds that a tool round adds, the provider's own left out. */
  round: number;
}

const report = (measured: Measured, scripts: { cold: number[]; warm: number[] }): Report => {
  const { own, turns, alone, many, idle, most, round } = measured;
  const row = (name: string, streamed: Streamed[]) => [
    name,
    ...[
      streamed.map(({ firstFrame }) => firstFrame),
      streamed.map(({ firstWords }) => firstWords),
      streamed.map(({ whole }) => whole),
    ].flatMap((times) => [median(times), percentile(times, 0.99)]),
  ];
  const first = (streamed: Streamed[]) => median(streamed.map(({ firstWords }) => firstWords));
  return {
    bench: "agents",
    tables: [
      {
        title: "A streamed turn of 20 words, one after another (milliseconds)",
        head: ["", "first event p50", "p99", "first words p50", "p99", "whole p50", "p99"],
        rows: [row("direct", own), row("service", turns)],
      },
      {
        title: `${STREAMS} streams at once, a word every ${PACE.every_ms} ms (milliseconds between words)`,
        head: ["", "p50", "p99", "most"],
        rows: [
          ["direct", median(alone), percentile(alone, 0.99), percentile(alone, 1)],
          ["service", median(many), percentile(many, 0.99), percentile(many, 1)],
        ],
      },
      {
        title: "Memory of the service's Node processes (MiB)",
        head: ["", "resident"],
        rows: [
          ["before", idle],
          [`with ${STREAMS} streams`, most],
        ],
      },
      {
        title: "A scripted tool's call (milliseconds)",
        head: ["", "p50", "p99"],
        rows: [
          ["cold: its process is started", median(scripts.cold), percentile(scripts.cold, 1)],
          ["warm", median(scripts.warm), percentile(scripts.warm, 0.99)],
        ],
      },
      { title: "A round of one scripted tool (milliseconds added)", head: ["", "p50"], rows: [["service", round]] },
    ],
    verdicts: [
      { name: "added_ms_to_first_words", value: first(turns) - first(own), floor: 30, aim: 10, better: "less" },
      { name: "warm_tool_call_ms", value: median(scripts.warm), floor: 3, aim: 1, better: "less" },
      { name: "memory_mib_with_200_streams", value: most, floor: 450, aim: 300, better: "less" },
    ],
    figures: {
      first_event_p50_ms: rounded(median(turns.map(({ firstFrame }) => firstFrame))),
      added_ms_per_tool_round: rounded(round),
      cold_tool_call_ms: rounded(median(scripts.cold)),
      gap_p99_ms_of_200_streams: rounded(percentile(many, 0.99)),
      gap_p99_ms_of_provider: rounded(percentile(alone, 0.99)),
      memory_mib_before: Math.round(idle),
      memory_mib_added_by_200_streams: Math.round(most - idle),
    },
  };
};
