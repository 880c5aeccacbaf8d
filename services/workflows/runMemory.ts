import type { CapacityLimits } from "../sharing/capacity.ts";

/** UTF-16 units of JSON that the runs driven by a process hold for their ticks: those of all organizations, and of one. */
const SHARES: CapacityLimits = { total: 128 * 1024 * 1024, perTenant: 48 * 1024 * 1024 };

/** What one driven run holds. */
export interface RunShare {
  /** Notes what it holds now. Whether it may go on: while its organization holds too much, only the run that was opened first does. */
  mayGrow(size: number): boolean;
  close(): void;
}

/**
 * Bounds the memory of driven runs, of which each may hold 32 MiB. Beyond its share, the runs of an organization wait for the oldest of
 * them, which needs none of the others to come to an end.
 */
export function createRunMemory({ total, perTenant } = SHARES) {
  /** By organization, the runs in the order in which they were opened. */
  const held = new Map<string, Map<symbol, number>>();
  const sizes = new Map<string, number>();
  let all = 0;

  const add = (organization: string, size: number): void => {
    all += size;
    sizes.set(organization, (sizes.get(organization) ?? 0) + size);
  };

  return {
    open(organization: string): RunShare {
      const run = Symbol(organization);
      const own = held.get(organization) ?? new Map<symbol, number>();
      held.set(organization, own.set(run, 0));
      return {
        mayGrow(size) {
          add(organization, size - (own.get(run) ?? 0));
          own.set(run, size);
          const [oldest] = own.keys();
          return oldest === run || (sizes.get(organization)! <= perTenant && all <= total);
        },
        close() {
          add(organization, -(own.get(run) ?? 0));
          own.delete(run);
          if (own.size > 0) return;
          held.delete(organization);
          sizes.delete(organization);
        },
      };
    },
  };
}
export type RunMemory = ReturnType<typeof createRunMemory>;
