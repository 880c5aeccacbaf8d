import type { Random } from "../random.ts";

/** Families of faults in the processes' environment, chosen with `--faults`, for a single NATS server. */
export const FAMILIES = ["stop", "network", "disk", "clock", "power", "readonly", "slow", "handles", "memory"] as const;
/** Families for a cluster of three NATS servers. */
export const CLUSTER_FAMILIES = ["stop", "clock", "partition"] as const;
export type Family = (typeof FAMILIES)[number] | (typeof CLUSTER_FAMILIES)[number];

export const ROLES = ["http", "services", "projections"] as const;
export type RoleName = (typeof ROLES)[number];
export const SERVERS = ["postgres", "nats", "meilisearch"] as const;
export type ServerName = (typeof SERVERS)[number];

/** Stores with a separate disk. */
export const STORES = [...SERVERS, "blobs"] as const;
export type Store = (typeof STORES)[number];

/**
 * What the network between a process and a server does. `dropped`: loses every packet; `deaf` and `mute`: only those of the server
 * or of the process; `cut`: loses those of existing connections, while new ones work; `refused`: resets all connections and refuses
 * new ones; `slow`: delivers after 2 s; `lossy`: loses every tenth packet, and what follows waits for its repetition.
 */
export const NETWORK_FAULTS = ["dropped", "deaf", "mute", "cut", "refused", "slow", "lossy"] as const;
export type NetworkFault = (typeof NETWORK_FAULTS)[number];
/** Servers of the NATS cluster. */
export const NODES = 3;

/**
 * `n`: which of the two processes; absent for a server. `ms`: duration. `disk`: fills the disk completely. `readonly`: as the
 * kernel makes a disk after an error. `partition`: cuts a server of the NATS cluster, counted from 0, off from the others. `slow`:
 * each write takes up to 2 s. `handles`, `memory`: the process gets no more of them. `power`: loses everything that had not reached
 * the disk.
 */
export type Surrounding =
  | { what: "stop"; role: RoleName | ServerName; n?: number; ms: number }
  | { what: "network"; role: RoleName; n: number; server: ServerName; way: NetworkFault; ms: number }
  | { what: "partition"; node: number; way: NetworkFault; ms: number }
  | { what: "disk" | "readonly" | "slow"; store: Store; ms: number }
  | { what: "handles" | "memory"; role: RoleName | ServerName; n?: number; ms: number }
  | { what: "clock"; role: RoleName; n: number; hours: number; ms: number }
  | { what: "power"; store: Store | "everything"; lost_ms: number };

type ProcessFault = Extract<Surrounding, { what: "stop" | "handles" | "memory" }>;
type ProcessTarget = Pick<ProcessFault, "role" | "n">;

/** Picks a process of a role, twice as likely as a server. */
function pickProcess(random: Random, n: number): ProcessTarget {
  const role = random.pick([...ROLES, ...ROLES, ...SERVERS]);
  return (SERVERS as readonly string[]).includes(role) ? { role } : { role, n };
}

/** Share of stops that last longer than a lease, sometimes longer than all timeouts. */
const LONG_STOPS = 0.15;

const pickStop = (random: Random): number =>
  random.chance(LONG_STOPS) ? random.int(30_000, 60_000) : random.int(5_000, 30_000);

export function pickSurrounding(random: Random, family: Family): Surrounding {
  const n = random.int(1, 2);
  switch (family) {
    case "stop":
      return { what: "stop", ...pickProcess(random, n), ms: pickStop(random) };
    case "handles":
    case "memory":
      return { what: family, ...pickProcess(random, n), ms: random.int(4_000, 10_000) };
    case "network": {
      const [role, server, way] = [random.pick(ROLES), random.pick(SERVERS), random.pick(NETWORK_FAULTS)];
      return { what: "network", role, n, server, way, ms: random.int(4_000, 15_000) };
    }
    case "partition":
      return {
        what: "partition",
        node: random.int(0, NODES - 1),
        way: random.pick(NETWORK_FAULTS),
        ms: random.int(5_000, 20_000),
      };
    case "disk":
    case "readonly":
    case "slow":
      return { what: family, store: random.pick(STORES), ms: random.int(4_000, 12_000) };
    case "clock":
      return {
        what: "clock",
        role: random.pick(ROLES),
        n,
        hours: random.pick([-1, 1]),
        ms: random.int(5_000, 15_000),
      };
    case "power":
      return { what: "power", store: random.pick([...STORES, "everything"]), lost_ms: random.int(1_000, 6_000) };
  }
}
