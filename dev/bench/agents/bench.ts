import { join } from "node:path";
import { Agent } from "undici";
import { startNode } from "../tools/child.ts";
import { untilInterrupted } from "../tools/untilInterrupted.ts";
import { progress } from "../tools/progress.ts";
import type { Report } from "../tools/report.ts";
import { startService, type Service } from "../tools/service.ts";
import { median, percentile, toSignificant } from "../tools/stats.ts";
import { agent, measureStream, provider, type StreamTimes, type Target } from "./measureStream.ts";
import { measureScripts } from "./scripts.ts";

const TURNS = 200;
const ROUNDS = 8;
const TOOL_TURNS = 20;
const STREAMS = 200;
const PACE = { deltas: 60, every_ms: 100 };
const TOOL =
  "export const meta = { description: 'Does nothing' };\nexport const execute = async () => ({ done: true });\n";

const client = new Agent({ connections: STREAMS, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });

/** Creates an agent on the mock model with these scripted tools. */
const createAgent = async ({ credentials, signIn }: Service, tools: string[]): Promise<Target> => {
  const person = await signIn();
  for (const name of tools) await person("POST", "/api/definitions", { type: "tool", name, source: TOOL }, [201]);
  const { id } = await person("POST", "/api/agents", { name: "Bench", model: "openai/mock", tools }, [201]);
  return agent(credentials.base_url, id, credentials.api_key);
};

/** Runs turns one after another, alternating between the targets, after a quarter as many turns for warming up. */
const alternate = async (targets: Target[], turns: number, question: { deltas: number }): Promise<StreamTimes[][]> => {
  const measured = targets.map((): StreamTimes[] => []);
  for (let n = -turns / 4; n < turns; n++)
    for (const [at, target] of targets.entries()) {
      const times = await measureStream(client, target, question);
      if (n >= 0) measured[at]!.push(times);
    }
  return measured;
};

/** Runs all streams at once, and samples the service's memory meanwhile. */
const runConcurrently = async (target: Target, memory: () => number | null) => {
  let peak = memory() ?? 0;
  const sampling = setInterval(() => (peak = Math.max(peak, memory() ?? 0)), 500);
  try {
    const streams = await Promise.all(Array.from({ length: STREAMS }, () => measureStream(client, target, PACE)));
    return { gaps: streams.flatMap(({ gaps }) => gaps), peak };
  } finally {
    clearInterval(sampling);
  }
};

/** Agents: the time that the service adds to the provider's, the cost of tools, and many streams at once. */
export const benchAgents = async (): Promise<Report> => {
  const stops: (() => Promise<void>)[] = [];
  const measure = async (): Promise<Report> => {
    progress("starting the mock provider and this service");
    const mock = startNode([join(import.meta.dirname, "provider.ts")]);
    stops.push(mock.stop);
    const origin = await mock.firstLine();
    const service = await startService({ OPENAI_BASE_URL: `${origin}/v1`, OPENAI_API_KEY: "mock" });
    stops.push(service.stop);
    const model = provider(origin);
    const plain = await createAgent(service, []);

    progress("turns one after another");
    const [direct, turns] = await alternate([model, plain], TURNS, { deltas: 20 });
    progress(`${STREAMS} streams at once, from the provider and through the service`);
    const idle = service.child.memory() ?? 0;
    const alone = await runConcurrently(model, () => null);
    const many = await runConcurrently(plain, service.child.memory);
    progress("tool rounds");
    const tooled = await createAgent(service, ["noop"]);
    const question = { deltas: 1, rounds: ROUNDS };
    const [modelTimes] = await alternate([model], TOOL_TURNS, { deltas: 1 });
    const [plainTimes] = await alternate([plain], TOOL_TURNS, { deltas: 1 });
    const [tooledTimes] = await alternate([tooled], TOOL_TURNS, question);
    const round = (medianTotal(tooledTimes!) - medianTotal(plainTimes!)) / ROUNDS - medianTotal(modelTimes!);
    return report(
      { direct: direct!, turns: turns!, alone: alone.gaps, many: many.gaps, idle, peak: many.peak, round },
      await measureScripts(),
    );
  };
  try {
    return await untilInterrupted(measure);
  } finally {
    progress("stopping");
    await client.destroy();
    for (const stop of stops.reverse()) await stop();
  }
};

const medianTotal = (turns: StreamTimes[]): number => median(turns.map(({ total }) => total));

interface AgentMeasurements {
  /** Turns sent directly to the provider. */
  direct: StreamTimes[];
  /** Turns of an agent. */
  turns: StreamTimes[];
  /** Milliseconds between words in all streams: directly from the provider, and through the service. */
  alone: number[];
  many: number[];
  /** MiB of the service's processes before the streams, and the maximum during them. */
  idle: number;
  peak: number;
  /** Milliseconds added by a round with one tool, without the provider's own time. */
  round: number;
}

const TIMES = ["firstFrame", "firstText", "total"] as const;

const turnRow = (name: string, turns: StreamTimes[]): (string | number)[] => [
  name,
  ...TIMES.map((field) => turns.map((turn) => turn[field])).flatMap((times) => [
    median(times),
    percentile(times, 0.99),
  ]),
];

const report = (measured: AgentMeasurements, scripts: { cold: number[]; warm: number[] }): Report => {
  const { direct, turns, alone, many, idle, peak, round } = measured;
  const firstText = (streams: StreamTimes[]) => median(streams.map((stream) => stream.firstText));
  return {
    bench: "agents",
    tables: agentTables(measured, scripts),
    verdicts: [
      {
        name: "added_ms_to_first_words",
        value: firstText(turns) - firstText(direct),
        floor: 30,
        aim: 10,
        better: "less",
      },
      { name: "warm_tool_call_ms", value: median(scripts.warm), floor: 3, aim: 1, better: "less" },
      { name: "memory_mib_with_200_streams", value: peak, floor: 450, aim: 300, better: "less" },
    ],
    figures: {
      first_event_p50_ms: toSignificant(median(turns.map(({ firstFrame }) => firstFrame))),
      added_ms_per_tool_round: toSignificant(round),
      cold_tool_call_ms: toSignificant(median(scripts.cold)),
      gap_p99_ms_of_200_streams: toSignificant(percentile(many, 0.99)),
      gap_p99_ms_of_provider: toSignificant(percentile(alone, 0.99)),
      memory_mib_before: Math.round(idle),
      memory_mib_added_by_200_streams: Math.round(peak - idle),
    },
  };
};

const agentTables = (
  { direct, turns, alone, many, idle, peak, round }: AgentMeasurements,
  scripts: { cold: number[]; warm: number[] },
): Report["tables"] => [
  {
    title: "A streamed turn of 20 words, one turn after another (milliseconds)",
    head: ["", "first event p50", "p99", "first words p50", "p99", "total p50", "p99"],
    rows: [turnRow("direct", direct), turnRow("service", turns)],
  },
  {
    title: `${STREAMS} streams at once, a word every ${PACE.every_ms} ms (milliseconds between words)`,
    head: ["", "p50", "p99", "max"],
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
      [`with ${STREAMS} streams`, peak],
    ],
  },
  {
    title: "A call of a scripted tool (milliseconds)",
    head: ["", "p50", "p99"],
    rows: [
      ["cold: its process is started first", median(scripts.cold), percentile(scripts.cold, 1)],
      ["warm", median(scripts.warm), percentile(scripts.warm, 0.99)],
    ],
  },
  { title: "Added by a round of one scripted tool (milliseconds)", head: ["", "p50"], rows: [["service", round]] },
];
