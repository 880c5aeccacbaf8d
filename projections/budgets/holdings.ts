import { currentTime } from "#events/clock.ts";
import type { Db } from "../projection.ts";
import { addAmounts, NO_AMOUNTS, type Amounts, type HeldSums, type Sums } from "./limits.ts";
import { createSharedLoader, createOrganizationCache } from "./organizationCache.ts";
import { sumHoldings } from "./query.ts";
import { sumInSlices } from "./sums.ts";

/** Maximum age of the sums that decide whether there is room. */
const MAX_AGE_MS = 1_000;
/** An admission that is neither stored nor withdrawn within this time has an unknown outcome; from then on only the sums count. */
const UNSETTLED_MS = 30_000;

/** What an organization stores and runs, in one snapshot of the read model. */
interface Snapshot {
  at: number;
  /** The log position that the read model has reached. */
  position: number;
  sums: Sums;
}
const NO_SNAPSHOT: Snapshot = { at: Number.NEGATIVE_INFINITY, position: 0, sums: new Map() };

/** An admission by this process that the snapshot may not contain. */
interface Holding {
  subjects: string[];
  amounts: Amounts;
  at: number;
  /** Log position of its event; undefined until it is recorded. */
  position: number | undefined;
}

/** An organization's admissions that are not in the read model yet. */
class Underway {
  readonly #all = new Set<Holding>();
  readonly #totals = new Map<string, Amounts>();

  get isEmpty(): boolean {
    return this.#all.size === 0;
  }
  add(admitted: Holding): void {
    this.#all.add(admitted);
    this.#count(admitted, 1n);
  }
  remove(admitted: Holding): void {
    if (this.#all.delete(admitted)) this.#count(admitted, -1n);
  }
  /** Removes admissions that a snapshot contains. */
  settle(snapshot: Snapshot): void {
    for (const admitted of this.#all) {
      const { position, at } = admitted;
      const isKnown = position === undefined ? snapshot.at - at > UNSETTLED_MS : position <= snapshot.position;
      if (isKnown) this.remove(admitted);
    }
  }
  of(subject: string): Amounts {
    return this.#totals.get(subject) ?? NO_AMOUNTS;
  }
  subjects(): Iterable<string> {
    return this.#totals.keys();
  }
  #count({ subjects, amounts }: Holding, sign: bigint): void {
    for (const subject of subjects) {
      const total = addAmounts(this.of(subject), amounts, sign);
      if (Object.values(total).every((amount) => amount === 0n)) this.#totals.delete(subject);
      else this.#totals.set(subject, total);
    }
  }
}

/** Counts what organizations store and run: from the read model, plus recent admissions in memory. */
export function createHoldings({ db, onError }: { db: Db; onError(error: unknown): void }) {
  const snapshots = createOrganizationCache<Snapshot>(({ sums }) => sums.size);
  const underway = new Map<string, Underway>();
  const loader = createSharedLoader(async (organization) => {
    const at = currentTime();
    const { position, rows } = await sumHoldings(db, organization);
    const snapshot = { at, position, sums: await sumInSlices(rows) };
    snapshots.set(organization, snapshot);
    const known = underway.get(organization);
    known?.settle(snapshot);
    if (known?.isEmpty) underway.delete(organization);
    return snapshot;
  }, onError);

  return {
    /** Reads current sums. */
    async readNow(organization: string): Promise<void> {
      await loader.running(organization)?.catch(() => {});
      await loader.load(organization);
    },
    /** Provides sums that are at most a second old. */
    async readRecent(organization: string): Promise<void> {
      const { at } = snapshots.get(organization) ?? NO_SNAPSHOT;
      if (currentTime() - at >= MAX_AGE_MS) await loader.load(organization);
    },
    sums(organization: string): HeldSums {
      const { sums } = snapshots.get(organization) ?? NO_SNAPSHOT;
      const more = underway.get(organization);
      if (!more) return { get: (subject) => sums.get(subject) ?? NO_AMOUNTS, keys: () => sums.keys() };
      return {
        get: (subject) => addAmounts(sums.get(subject) ?? NO_AMOUNTS, more.of(subject)),
        keys: () => new Set([...sums.keys(), ...more.subjects()]),
      };
    },
    /** Counts an admission at once. */
    add(organization: string, subjects: string[], amounts: Amounts) {
      const known = underway.get(organization) ?? new Underway();
      underway.set(organization, known);
      const admitted: Holding = { subjects, amounts, at: currentTime(), position: undefined };
      known.add(admitted);
      return {
        settle: (position: number) => void (admitted.position = position),
        withdraw: () => known.remove(admitted),
      };
    },
  };
}
