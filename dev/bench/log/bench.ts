import type { Effort } from "../tools/effort.ts";
import { untilInterrupted } from "../tools/untilInterrupted.ts";
import { progress } from "../tools/progress.ts";
import type { Report, Verdict } from "../tools/report.ts";
import { median, medianRatio, toSignificant } from "../tools/stats.ts";
import { type AppendRates, IN_FLIGHT, runAppends } from "./append.ts";
import { createLog, startServer } from "./database.ts";
import { turnAppend } from "./payload.ts";
import { type ReadRates, runReading } from "./reading.ts";
import { openEmmett, openOwnStore, type Store } from "./stores.ts";

/** The best pool size for Emmett on this bench: with 10 or 64 connections it is slower at 64 in flight. */
const EMMETT_CONNECTIONS = 32;

/** By appends in flight. How the floors are set: docs/benchmarks.md. */
const APPENDS: Record<number, { floor: number; aim: number }> = {
  1: { floor: 0.5, aim: 1.2 },
  16: { floor: 1.4, aim: 3 },
  64: { floor: 2, aim: 4 },
};
/** Processor time per event in read models, relative to that of SELECT. */
const READING = {
  "followed into read models": { floor: 20, aim: 5 },
  "rebuilt into a read model": { floor: 12, aim: 4 },
} as const;

/** Appends to the event log and to Emmett's PostgreSQL store, and reading the log, on one embedded server. */
export const benchLog = async (effort: Effort): Promise<Report> => {
  progress("starting PostgreSQL");
  const server = await startServer();
  const stores: Store[] = [];
  const measure = async (): Promise<Report> => {
    stores.push(openOwnStore(await createLog(server, "bench_own")));
    stores.push(await openEmmett(await server.create("bench_emmett"), EMMETT_CONNECTIONS));
    return report(await runAppends(stores, server.pid, effort), await runReading(server, effort));
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
  const find = (store: string, inFlight: number): AppendRates =>
    appends.find((one) => one.store === store && one.inFlight === inFlight)!;
  const timesEmmett = (inFlight: number): number =>
    medianRatio(find("this log", inFlight).perSecond, find("emmett", inFlight).perSecond);
  const processorOfEmmett = (inFlight: number): number =>
    medianRatio(find("this log", inFlight).cpuMs, find("emmett", inFlight).cpuMs);
  const reading = (way: ReadRates["way"]): ReadRates => readings.find((one) => one.way === way)!;
  const ofSelect = (way: ReadRates["way"], pick: (rates: ReadRates) => number[]): number =>
    medianRatio(pick(reading(way)), pick(reading("plain SELECT")));
  return {
    bench: "log",
    tables: [
      {
        title: `Appends per second: one event of ${turnAppend().bytes} bytes each, on distinct streams`,
        head: ["in flight", "this log", "emmett", "times", "processor, of Emmett's", "PostgreSQL (µs)"],
        rows: IN_FLIGHT.map((n) => [
          String(n),
          median(find("this log", n).perSecond),
          median(find("emmett", n).perSecond),
          timesEmmett(n),
          processorOfEmmett(n),
          median(find("this log", n).postgresMs) * 1000,
        ]),
      },
      {
        title: `Events per second from a log of ${events} events (processor: microseconds of an event, PostgreSQL included)`,
        head: ["", "per second", "of SELECT", "processor", "of SELECT"],
        rows: readings.map(({ way, perSecond, cpuUs }) => [
          way,
          median(perSecond),
          ofSelect(way, (rates) => rates.perSecond),
          median(cpuUs),
          ofSelect(way, (rates) => rates.cpuUs),
        ]),
      },
    ],
    verdicts: [
      ...IN_FLIGHT.map((n): Verdict => {
        const { floor, aim } = APPENDS[n]!;
        return { name: `appends_of_emmett_at_${n}`, value: timesEmmett(n), floor, aim, better: "more" };
      }),
      {
        name: "processor_of_appends_of_emmett_at_64",
        value: processorOfEmmett(64),
        floor: 0.35,
        aim: 0.25,
        better: "less",
      },
      ...(["followed into read models", "rebuilt into a read model"] as const).map((way): Verdict => {
        const value = ofSelect(way, (rates) => rates.cpuUs);
        return {
          name: `processor_of_events_${way.replaceAll(" ", "_")}_of_select`,
          value,
          ...READING[way],
          better: "less",
        };
      }),
    ],
    figures: {
      appends_per_second: Object.fromEntries(
        IN_FLIGHT.map((n) => [n, Math.round(median(find("this log", n).perSecond))]),
      ),
      // The log's lock lets one backend append at a time: with a core of its own, it appends this many (docs/scaling.md).
      ceiling_per_second: Math.round(1000 / median(find("this log", 64).postgresMs)),
      of_select: Object.fromEntries(
        readings.map(({ way }) => [way, toSignificant(ofSelect(way, (rates) => rates.perSecond))]),
      ),
    },
  };
};
