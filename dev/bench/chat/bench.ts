import type { Effort } from "../tools/effort.ts";
import { untilInterrupted } from "../tools/untilInterrupted.ts";
import { progress } from "../tools/progress.ts";
import type { Report } from "../tools/report.ts";
import { median, toSignificant } from "../tools/stats.ts";
import { type Contender, startPlatform, startPortkey, startProvider } from "./contenders.ts";
import { findEntry, type LoadMeasurements, throughputRatio, toRows, runRounds } from "./rounds.ts";
import { measureFirstTurns, measureGrowingThread } from "./threads.ts";

/** A turn's start and its end. */
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

const report = (measured: LoadMeasurements[], threads: ThreadCost[], memory: (string | number | null)[][]): Report => {
  const find = (name: string, connections: number, stream: boolean) =>
    findEntry(measured, { name, connections, stream });
  const turns = measured.filter(({ name }) => name === "service").reduce((sum, { totals }) => sum + totals.length, 0);
  return {
    bench: "chat",
    tables: [
      {
        title: "Chat completions (milliseconds; every answer checked)",
        head: ["", "", "connections", "per second", "p50", "p99", "added p50", "added p99", "first byte p50"],
        rows: toRows(measured),
      },
      {
        title: `One turn as the thread grows, 1 connection (milliseconds; grown: a log of over ${turns * EVENTS_PER_TURN} events)`,
        head: ["turn", "log", "service", "direct, same history", "added"],
        rows: threads.map(({ turn, store, service, direct }) => [turn, store, service, direct, service - direct]),
      },
      { title: "Memory of the Node processes (MiB)", head: ["", "resident"], rows: memory },
    ],
    verdicts: [
      {
        name: "throughput_of_portkey_at_32",
        value: throughputRatio(find("service", 32, false), find("portkey", 32, false)),
        floor: 0.35,
        aim: 1,
        better: "more",
      },
      {
        name: "added_p50_ms_at_1",
        value: median(find("service", 1, false).totals) - median(find("direct", 1, false).totals),
        floor: 10,
        aim: 4,
        better: "less",
      },
    ],
    figures: {
      streamed_throughput_of_portkey_at_32: toSignificant(
        throughputRatio(find("service", 32, true), find("portkey", 32, true)),
      ),
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
