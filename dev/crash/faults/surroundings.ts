import type { Random } from "../random.ts";

/** Faults of what surrounds the processes, chosen with `--faults`. */
export const FAMILIES = ["stop", "network", "disk", "clock", "power"] as const;
export type Family = (typeof FAMILIES)[number];

export const ROLES = ["http", "services", "projections"] as const;
export type RoleName = (typeof ROLES)[number];
export const SERVERS = ["postgres", "nats", "meilisearch"] as const;
export type ServerName = (typeof SERVERS)[number];

/**
 * What the network between a process and a server does. `dropped`: loses every packet; `deaf` and `mute`: only those of the
 * server or of the process; `cut`: loses those of the present connections, while new ones work; `refused`: resets all and
 * refuses new ones; `slow`: delivers after 2 s.
 */
export const WAYS = ["dropped", "deaf", "mute", "cut", "refused", "slow"] as const;
export type Way = (typeof WAYS)[number];

/** `n`: which of the two processes; absent for a server. `ms`: duration. */
export type Surrounding =
  | { what: "stop"; role: RoleName | ServerName; n?: number; ms: number }
  | { what: "network"; role: RoleName; n: number; server: ServerName; way: Way; ms: number }
  | { what: "disk"; store: "blobs"; ms: number }
  | { what: "clock"; role: RoleName; n: number; hours: number; ms: number }
  | { what: "power"; store: "nats"; lost_ms: number };

export function pickSurrounding(random: Random, family: Family): Surrounding {
  const n = random.int(1, 2);
  switch (family) {
    case "stop": {
      const role = random.pick([...ROLES, ...ROLES, ...SERVERS]);
      const isServer = (SERVERS as readonly string[]).includes(role);
      return { what: "stop", role, ...(!isServer && { n }), ms: random.int(5_000, 30_000) };
    }
    case "network": {
      const [role, server, way] = [random.pick(ROLES), random.pick(SERVERS), random.pick(WAYS)];
      return { what: "network", role, n, server, way, ms: random.int(4_000, 15_000) };
    }
    case "disk":
      return { what: "disk", store: "blobs", ms: random.int(4_000, 12_000) };
    case "clock":
      return {
        what: "clock",
        role: random.pick(ROLES),
        n,
        hours: random.pick([-1, 1]),
        ms: random.int(5_000, 15_000),
      };
    case "power":
      return { what: "power", store: "nats", lost_ms: random.int(1_000, 6_000) };
  }
}
