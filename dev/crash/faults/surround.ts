import { setTimeout as sleep } from "node:timers/promises";
import type { Topology } from "../topology.ts";
import type { Release } from "./disks.ts";
import { limitResource } from "./limits.ts";
import { disturb } from "./network.ts";
import { cutPowerOfNats } from "./powerCut.ts";
import { findChildren, kill, signal } from "./processes.ts";
import { type RoleName, type ServerName, type Store, type Surrounding } from "./surroundings.ts";

/** Stores whose unflushed data a power cut loses. NATS loses messages in another way (`cutPowerOfNats`). */
const CUT = ["postgres", "meilisearch", "blobs"] as const;

type Target = Pick<Extract<Surrounding, { what: "stop" }>, "role" | "n">;

/** Stops a process (of a server also its children), then continues it. */
async function stopFor(pids: number[], ms: number): Promise<void> {
  for (const pid of pids) signal(pid, "SIGSTOP");
  await sleep(ms);
  for (const pid of pids) signal(pid, "SIGCONT");
}

/** The pids of a target, children last; empty if it is not running. */
async function pidsOf({ processOf, pidOf }: Topology, { role, n }: Target): Promise<number[]> {
  if (n !== undefined) return [processOf(role as RoleName, n).pid() ?? []].flat();
  const pid = await pidOf(role as ServerName).catch(() => undefined);
  return pid === undefined ? [] : [pid, ...(await findChildren(pid))];
}

/** Kills the processes that use these stores. Servers restart when the supervisor may; roles restart by themselves a moment later. */
const releaseOf =
  (topology: Topology, stores: readonly Store[]): Release =>
  async () => {
    const resumeSupervisor = topology.holdSupervisor();
    for (const store of stores)
      if (store === "blobs") for (const role of topology.roles) role.signal("SIGKILL");
      else for (const pid of await pidsOf(topology, { role: store })) kill(pid);
    return resumeSupervisor;
  };

async function cutPower(topology: Topology, store: Store | "everything", lost_ms: number): Promise<void> {
  const killNats = async () => void kill(await topology.pidOf("nats").catch(() => undefined));
  if (store === "nats") return cutPowerOfNats(topology.data, lost_ms, killNats);
  if (store !== "everything") return topology.surroundings.disks!.cut([store], releaseOf(topology, [store]));
  await cutPowerOfNats(topology.data, lost_ms, killNats);
  await topology.surroundings.disks!.cut(CUT, releaseOf(topology, CUT));
}

/** Injects an environment fault; undefined if its target is not running. `ended` resolves at its end. */
export async function injectSurrounding(
  topology: Topology,
  fault: Surrounding,
): Promise<{ ended: Promise<void> } | undefined> {
  const { network, disks, clocks, nats } = topology.surroundings;
  switch (fault.what) {
    case "stop": {
      const pids = await pidsOf(topology, fault);
      return pids.length > 0 ? { ended: stopFor(pids, fault.ms) } : undefined;
    }
    case "handles":
    case "memory": {
      const find = () => pidsOf(topology, fault);
      return (await find()).length > 0 ? { ended: limitResource(find, fault.what, fault.ms) } : undefined;
    }
    case "network":
      return {
        ended: network!.disturb(topology.processOf(fault.role, fault.n).name, fault.server, fault.way, fault.ms),
      };
    case "partition":
      return { ended: disturb(nats!.routesOf(fault.node), fault.way, fault.ms) };
    case "disk":
      return { ended: disks!.fill(fault.store, fault.ms) };
    case "slow":
      return { ended: disks!.slowDown(fault.store, fault.ms) };
    case "readonly":
      return { ended: disks!.refuseWrites(fault.store, fault.ms, releaseOf(topology, [fault.store])) };
    case "clock":
      return { ended: clocks!.shift(topology.processOf(fault.role, fault.n).name, fault.hours, fault.ms) };
    case "power":
      return { ended: cutPower(topology, fault.store, fault.lost_ms) };
  }
}
