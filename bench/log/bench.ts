import { orInterrupted } from "../tools/interrupted.ts";
import { progress } from "../tools/progress.ts";
import type { Report } from "../tools/report.ts";
import { median, rounded } from "../tools/stats.ts";
import { type Appending, IN_FLIGHT, runAppends } from "./append.ts";
import { createLog, startServer } from "./database.ts";
import { turnAppend } from "./payload.ts";
import { type Reading, runReading } from "./reading.ts";
import { openEmmett, openOwnStore, type Store } from "./stores.ts";

/** The most that Emmett makes use of here: with 10 it is slower at 64 in flight, with 64 too. */
const EMMETT_CONNECTIONS = 32;

/** The event log beside Emmett's PostgreSQL store, and how fast it is read, on one embedded server. */
export const benchLog = async (): Promise<Report> => {
  progress("starting PostgreSQL");
  const server = await startServer();
  const stores: Store[] = [];
  const measure = async (): Promise<Report> => {
    stores.push(openOwnStore(await createLog(server, "bench_own")));
    stores.push(await openEmmett(await server.create("bench_emmett"), EMMETT_CONNECTIONS));
    return report(await runAppends(stores), await runReading(server));
  };
  try {
    return await orInterrupted(measure);
  } finally {
    progress("stopping");
    await Promise.all(stores.map((store) => store.close()));
    await server.stop();
  }
};

const report = (appends: Appending[], { events, readings }: { events: number; readings: Reading[] }): Report => {
  const of = (store: string, inFlight: number): number[] =>
    appends.find((one) => one.store === store && one.inFlight === inFlight)?.perSecond ?? [];
  const timesEmmett = (inFlight: number): number => {
    const emmett = of("emmett", inFlight);
    return median(of("this log", inFlight).map((value, round) => value / (emmett[round] ?? Number.NaN)));
  };
  const rate = (way: Reading["way"]): number =>
    median(readings.find((reading) => reading.way === way)?.perSecond ?? []);
  const select = rate("plain SELECT");
  return {
    bench: "log",
    tables: [
      {
        title: `Appends a second: one event of ${turnAppend().bytes} bytes each, on distinct streams`,
        head: ["in flight", "this log", "emmett", "times"],
        rows: IN_FLIGHT.map((n) => [String(n), median(of("this log", n)), median(of("emmett", n)), timesEmmett(n)]),
      },
      {
        title: `Events a second, of a log of ${events}`,
        head: ["", "per second", "of SELECT"],
        rows: readings.map(({ way }) => [way, rate(way), rate(way) / select]),
      },
    ],
    verdicts: [
      { name: "appends_of_emmett_at_64", value: timesEmmett(64), floor: 2, aim: 4, better: "more" },
      {
        name: "events_per_second_into_read_models",
        value: Math.min(rate("followed into read models"), rate("rebuilt into a read model")),
        floor: 20_000,
        aim: 50_000,
        better: "more",
      },
    ],
    figures: {
      appends_of_emmett: Object.fromEntries(IN_FLIGHT.map((n) => [n, rounded(timesEmmett(n))])),
      appends_per_second: Object.fromEntries(IN_FLIGHT.map((n) => [n, Math.round(median(of("this log", n)))])),
      of_select: Object.fromEntries(readings.map(({ way }) => [way, rounded(rate(way) / select)])),
    },
  };
};
