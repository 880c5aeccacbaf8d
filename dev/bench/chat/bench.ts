import type { Effort } from "../tools/effort.ts";
import { untilInterrupted } from "../tools/untilInterrupted.ts";
import { progress } from "../tools/progress.ts";
import type { Report, Verdict } from "../tools/report.ts";
import { median, medianRatio, toSignificant } from "../tools/stats.ts";
import { type Contender, startPlatform, startPortkey, startProvider } from "./contenders.ts";
import { findEntry, type LoadMeasurements, toRows, runRounds } from "./rounds.ts";
import { measureFirstTurns, measureGrowingThread } from "./threads.ts";

/** The start and the end of a turn. */
const EVENTS_PER_TURN = 2;

/** Chat completions: directly from the mock provider, through Portkey's gateway, and through this service, which stores every turn. */
export const benchChat = async (effort: Effort): Promise<Report> => {
  const contenders: Contender[] = [];
  const start = async (what: string, starting: Promise<Contender>): Promise<Contender> => {
    progress(`starting ${what}`);
    const contender = await starting;
    contenders.push(contender);
    return contender;
  };
  const measure = async (): Promise<Report> => {
    const direct = await start("the mock provider", startProvider());
    const portkey = await start("Portkey's gateway", startPortkey(direct.target.origin));
    const service = await start("this service", startPlatform(direct.target.origin));
    const isFull = effort === "full";
    const firstTurns = isFull ? [await measureFirstTurns(service.target, direct.target)] : [];
    const measured = await runRounds([direct, portkey, service], effort);
    const laterTurns = isFull ? await measureGrowingThread(service.target, direct.target) : [];
    const memory = contenders.map(({ target, child }) => [target.name, child.memory()]);
    return report(
      measured,
      [
        ...firstTurns.map((cost) => ({ ...cost, store: "new" })),
        ...laterTurns.map((cost) => ({ ...cost, store: "grown" })),
      ],
      memory,
    );
  };
  try {
    return await untilInterrupted(measure);
  } finally {
    progress("stopping");
    await Promise.all(contenders.map(({ stop }) => stop()));
  }
};

interface ThreadCost {
  store: string;
  turn: number;
  service: number;
  direct: number;
}

type Find = (name: string, connections: number, stream: boolean) => LoadMeasurements;

/** How the floors are set: docs/benchmarks.md. */
const verdicts = (find: Find): Verdict[] => {
  const of = (connections: number, stream: boolean, pick: (entry: LoadMeasurements) => number[]): number =>
    medianRatio(pick(find("service", connections, stream)), pick(find("portkey", connections, stream)));
  const p50 = (name: string): number => median(find(name, 1, false).totals);
  const perSecond = ({ perSecond: rates }: LoadMeasurements) => rates;
  const cpuMs = ({ cpuMs: times }: LoadMeasurements) => times;
  return [
    { name: "throughput_of_portkey_at_32", value: of(32, false, perSecond), floor: 0.18, aim: 0.65, better: "more" },
    { name: "processor_of_portkey_at_32", value: of(32, false, cpuMs), floor: 4.2, aim: 1.8, better: "less" },
    { name: "streams_of_portkey_at_128", value: of(128, true, perSecond), floor: 0.2, aim: 1, better: "more" },
    {
      name: "processor_of_streams_of_portkey_at_128",
      value: of(128, true, cpuMs),
      floor: 5,
      aim: 1.8,
      better: "less",
    },
    {
      name: "added_p50_of_portkey_at_1",
      value: (p50("service") - p50("direct")) / (p50("portkey") - p50("direct")),
      floor: 25,
      aim: 4,
      better: "less",
    },
    {
      name: "first_words_of_an_answer_of_portkey_at_1",
      value: median(find("service", 1, true).firstByte) / p50("portkey"),
      floor: 22,
      aim: 4,
      better: "less",
    },
  ];
};

const report = (measured: LoadMeasurements[], threads: ThreadCost[], memory: (string | number | null)[][]): Report => {
  const find = (name: string, connections: number, stream: boolean) =>
    findEntry(measured, { name, connections, stream });
  const turns = measured.filter(({ name }) => name === "service").reduce((sum, { totals }) => sum + totals.length, 0);
  return {
    bench: "chat",
    tables: [
      {
        title: "Chat completions (milliseconds; processor: time of all processes for one turn; every answer checked)",
        head: [
          "",
          "",
          "connections",
          "per second",
          "processor",
          "p50",
          "p99",
          "added p50",
          "added p99",
          "first byte p50",
        ],
        rows: toRows(measured),
      },
      {
        title: `One turn as the thread grows, 1 connection (milliseconds; grown: a log of over ${turns * EVENTS_PER_TURN} events)`,
        head: ["turn", "log", "service", "direct, same history", "added"],
        rows: threads.map(({ turn, store, service, direct }) => [turn, store, service, direct, service - direct]),
      },
      { title: "Memory of the Node processes (MiB)", head: ["", "resident"], rows: memory },
    ],
    verdicts: verdicts(find),
    figures: {
      first_byte_p50_ms_at_1: toSignificant(median(find("service", 1, true).firstByte)),
      added_ms_by_turn: threads.map(({ turn, store, service, direct }) => ({
        turn,
        log: store,
        ms: toSignificant(service - direct),
      })),
      memory_mib: Object.fromEntries(
        memory.map(([name, mib]) => [name, typeof mib === "number" ? Math.round(mib) : mib]),
      ),
    },
  };
};
