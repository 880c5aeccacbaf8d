import type { Effort } from "../tools/effort.ts";
import { untilInterrupted } from "../tools/untilInterrupted.ts";
import { progress } from "../tools/progress.ts";
import type { Report } from "../tools/report.ts";
import { median, toSignificant } from "../tools/stats.ts";
import { type AppendRates, IN_FLIGHT, runAppends } from "./append.ts";
import { createLog, startServer } from "./database.ts";
import { turnAppend } from "./payload.ts";
import { type ReadRates, runReading } from "./reading.ts";
import { openEmmett, openOwnStore, type Store } from "./stores.ts";

/** The best pool size for Emmett here: with 10 or 64 connections it is slower at 64 in flight. */
const EMMETT_CONNECTIONS = 32;

/** Appends to the event log and to Emmett's PostgreSQL store, and reading the log, on one embedded server. */
export const benchLog = async (effort: Effort): Promise<Report> => {
  progress("starting PostgreSQL");
  const server = await startServer();
  const stores: Store[] = [];
  const measure = async (): Promise<Report> => {
    stores.push(openOwnStore(await createLog(server, "bench_own")));
    stores.push(await openEmmett(await server.create("bench_emmett"), EMMETT_CONNECTIONS));
    return report(await runAppends(stores, effort), await runReading(server, effort));
  };
  try {
    return await untilInterrupted(measure);
  } finally {
    progress("stopping");
    await Promise.all(stores.map((store) => store.close()));
    await server.stop();
  }
};

const report = (appends: AppendRates[], { events, readings }: { events: number; readings: ReadRates[] }): Report => {
  const rates = (store: string, inFlight: number): number[] =>
    appends.find((one) => one.store === store && one.inFlight === inFlight)?.perSecond ?? [];
  const timesEmmett = (inFlight: number): number => {
    const emmett = rates("emmett", inFlight);
    return median(rates("this log", inFlight).map((value, round) => value / (emmett[round] ?? Number.NaN)));
  };
  const rate = (way: ReadRates["way"]): number =>
    median(readings.find((reading) => reading.way === way)?.perSecond ?? []);
  const select = rate("plain SELECT");
  return {
    bench: "log",
    tables: [
      {
        title: `Appends per second: one event of ${turnAppend().bytes} bytes each, on distinct streams`,
        head: ["in flight", "this log", "emmett", "times"],
        rows: IN_FLIGHT.map((n) => [
          String(n),
          median(rates("this log", n)),
          median(rates("emmett", n)),
          timesEmmett(n),
        ]),
      },
      {
        title: `Events per second from a log of ${events} events`,
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
      appends_of_emmett: Object.fromEntries(IN_FLIGHT.map((n) => [n, toSignificant(timesEmmett(n))])),
      appends_per_second: Object.fromEntries(IN_FLIGHT.map((n) => [n, Math.round(median(rates("this log", n)))])),
      of_select: Object.fromEntries(readings.map(({ way }) => [way, toSignificant(rate(way) / select)])),
    },
  };
};
