import { orInterrupted } from "../tools/interrupted.ts";
import { progress } from "../tools/progress.ts";
import type { Report } from "../tools/report.ts";
import { median, rounded } from "../tools/stats.ts";
import { type Party, startPortkey, startProvider, startService } from "./parties.ts";
import { entryOf, type Measured, ratioOf, rowsOf, runRounds } from "./rounds.ts";
import { firstTurns, growingThread } from "./threads.ts";

/** Each turn writes a start and an end. */
const EVENTS_A_TURN = 2;

/** Chat completions: asked directly, through Portkey's gateway, and through this service, where every turn is durable. */
export const benchChat = async (): Promise<Report> => {
  const started: Party[] = [];
  const start = async (what: string, starting: Promise<Party>): Promise<Party> => {
    progress(`starting ${what}`);
    const party = await starting;
    started.push(party);
    return party;
  };
  const measure = async (): Promise<Report> => {
    const direct = await start("the mock provider", startProvider());
    const portkey = await start("Portkey's gateway", startPortkey(direct.target.origin));
    const service = await start("this service", startService(direct.target.origin));
    const young = await firstTurns(service.target, direct.target);
    const measured = await runRounds([direct, portkey, service]);
    const grown = await growingThread(service.target, direct.target);
    const memory = started.map(({ target, child }) => [target.name, child.memory()]);
    return report(
      measured,
      [{ ...young, store: "new" }, ...grown.map((cost) => ({ ...cost, store: "grown" }))],
      memory,
    );
  };
  try {
    return await orInterrupted(measure);
  } finally {
    progress("stopping");
    await Promise.all(started.map(({ stop }) => stop()));
  }
};

interface ThreadCost {
  store: string;
  turn: number;
  service: number;
  direct: number;
}

const report = (measured: Measured[], threads: ThreadCost[], memory: (string | number | null)[][]): Report => {
  const of = (name: string, connections: number, stream: boolean) => entryOf(measured, { name, connections, stream });
  const turns = measured.filter(({ name }) => name === "service").reduce((sum, { whole }) => sum + whole.length, 0);
  return {
    bench: "chat",
    tables: [
      {
        title: "Chat completions (milliseconds; every answer checked)",
        head: ["", "", "connections", "per second", "p50", "p99", "added p50", "added p99", "first byte p50"],
        rows: rowsOf(measured),
      },
      {
        title: `One turn as the thread grows, 1 connection (milliseconds; grown: a log of over ${turns * EVENTS_A_TURN} events)`,
        head: ["turn", "log", "service", "direct, same history", "added"],
        rows: threads.map(({ turn, store, service, direct }) => [turn, store, service, direct, service - direct]),
      },
      { title: "Memory of the Node processes (MiB)", head: ["", "resident"], rows: memory },
    ],
    verdicts: [
      {
        name: "throughput_of_portkey_at_32",
        value: ratioOf(of("service", 32, false), of("portkey", 32, false)),
        floor: 0.35,
        aim: 1,
        better: "more",
      },
      {
        name: "added_p50_ms_at_1",
        value: median(of("service", 1, false).whole) - median(of("direct", 1, false).whole),
        floor: 10,
        aim: 4,
        better: "less",
      },
    ],
    figures: {
      streamed_throughput_of_portkey_at_32: rounded(ratioOf(of("service", 32, true), of("portkey", 32, true))),
      first_byte_p50_ms_at_1: rounded(median(of("service", 1, true).firstByte)),
      added_ms_by_turn: threads.map(({ turn, store, service, direct }) => ({
        turn,
        log: store,
        ms: rounded(service - direct),
      })),
      memory_mib: Object.fromEntries(
        memory.map(([name, mib]) => [name, typeof mib === "number" ? Math.round(mib) : mib]),
      ),
    },
  };
};
