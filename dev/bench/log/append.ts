import type { Effort, BenchPlan } from "../tools/effort.ts";
import { cpuTimeMs, measureCpu } from "../tools/cpuTime.ts";
import { progress } from "../tools/progress.ts";
import type { Store } from "./stores.ts";

const PLANS: Record<Effort, BenchPlan> = { full: { rounds: 5, seconds: 2 }, quick: { rounds: 3, seconds: 1 } };
export const IN_FLIGHT = [1, 16, 64];

export interface AppendRates {
  store: string;
  inFlight: number;
  /** Appends per second, one figure for each round. */
  perSecond: number[];
  /** Milliseconds of processor time per append, in this process and in PostgreSQL, one figure per round. */
  cpuMs: number[];
  /** PostgreSQL's part of it. */
  postgresMs: number[];
}

/** Measures every store with every number of appends in flight, in turn. Finally checks that no store has lost an append. */
export const runAppends = async (stores: Store[], postgres: number, effort: Effort): Promise<AppendRates[]> => {
  const { rounds, seconds: limit } = PLANS[effort];
  const measured = stores.flatMap(({ name }) =>
    IN_FLIGHT.map((inFlight): AppendRates => ({ store: name, inFlight, perSecond: [], cpuMs: [], postgresMs: [] })),
  );
  const acknowledged = new Map(stores.map(({ name }) => [name, 0]));
  // Round 0 warms up.
  for (let round = 0; round <= rounds; round++) {
    for (const inFlight of IN_FLIGHT) {
      for (const store of round % 2 === 0 ? stores : stores.toReversed()) {
        progress(`round ${round} of ${rounds}: ${store.name}, ${inFlight} in flight`);
        const before = cpuTimeMs([postgres]);
        const { result, cpuMs } = await measureCpu([process.pid], () => append(store, inFlight, limit));
        const { appends, seconds } = result;
        const postgresMs = cpuTimeMs([postgres]) - before;
        acknowledged.set(store.name, (acknowledged.get(store.name) ?? 0) + appends);
        const entry = measured.find((one) => one.store === store.name && one.inFlight === inFlight);
        if (round === 0) continue;
        entry?.perSecond.push(appends / seconds);
        entry?.cpuMs.push(cpuMs / appends);
        entry?.postgresMs.push(postgresMs / appends);
      }
    }
  }
  for (const store of stores) {
    const [stored, expected] = [await store.count(), acknowledged.get(store.name)];
    if (stored !== expected) throw new Error(`${store.name} has ${stored} events, but acknowledged ${expected}`);
  }
  return measured;
};

const append = async (store: Store, inFlight: number, limit: number): Promise<{ appends: number; seconds: number }> => {
  const start = performance.now();
  const end = start + limit * 1000;
  let appends = 0;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (performance.now() < end) {
        await store.append();
        appends++;
      }
    }),
  );
  return { appends, seconds: (performance.now() - start) / 1000 };
};
