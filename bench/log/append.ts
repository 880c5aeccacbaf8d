import { progress } from "../tools/progress.ts";
import type { Store } from "./stores.ts";

const ROUNDS = 5;
const SECONDS = 2;
export const IN_FLIGHT = [1, 16, 64];

export interface Appending {
  store: string;
  inFlight: number;
  /** Appends a second, of each round. */
  perSecond: number[];
}

/** Every store with every number of appends in flight, in turn; ends with a count of what each one really holds. */
export const runAppends = async (stores: Store[]): Promise<Appending[]> => {
  const measured = stores.flatMap(({ name }) =>
    IN_FLIGHT.map((inFlight): Appending => ({ store: name, inFlight, perSecond: [] })),
  );
  const acknowledged = new Map(stores.map(({ name }) => [name, 0]));
  // Round 0 warms up.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const inFlight of IN_FLIGHT) {
      for (const store of round % 2 === 0 ? stores : stores.toReversed()) {
        progress(`round ${round} of ${ROUNDS}: ${store.name}, ${inFlight} in flight`);
        const { appends, seconds } = await append(store, inFlight);
        acknowledged.set(store.name, (acknowledged.get(store.name) ?? 0) + appends);
        const entry = measured.find((one) => one.store === store.name && one.inFlight === inFlight);
        if (round > 0) entry?.perSecond.push(appends / seconds);
      }
    }
  }
  for (const store of stores) {
    const [held, said] = [await store.count(), acknowledged.get(store.name)];
    if (held !== said) throw new Error(`${store.name} holds ${held} events and acknowledged ${said}`);
  }
  return measured;
};

const append = async (store: Store, inFlight: number): Promise<{ appends: number; seconds: number }> => {
  const start = performance.now();
  const end = start + SECONDS * 1000;
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
