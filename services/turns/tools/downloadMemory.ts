import { MIB } from "#events/units.ts";
import { createCapacity, type CapacityLimits } from "../../sharing/capacity.ts";
import { WebError, type OpenDownloadMemory } from "./web.ts";

/** Bytes that the downloads of a process may hold at the same time: in total, and per organization. */
const MAX_HELD = 192 * MIB;
const MAX_OF_ORGANIZATION = 64 * MIB;
const LIMITS: CapacityLimits = { total: MAX_HELD, perTenant: MAX_OF_ORGANIZATION };
/** The first bytes of a download are not counted, because most responses are shorter. */
const FREE_BYTES = 256 * 1024;

/**
 * Limits the memory of downloads: a server that never finishes its response would keep it until the timeout. A download that finds
 * no room fails at once, because waiting would keep its connection open.
 */
export function limitDownloadMemory(limits: CapacityLimits = LIMITS): OpenDownloadMemory {
  const capacity = createCapacity(limits);
  return (organization) => {
    let arrived = 0;
    let counted = 0;
    return {
      take(bytes) {
        arrived += bytes;
        const more = Math.max(0, arrived - FREE_BYTES) - counted;
        if (more === 0) return;
        if (!capacity.hasRoom(organization, more))
          throw new WebError("The downloads of this organization hold too many bytes at once; try again later.");
        capacity.take(organization, more);
        counted += more;
      },
      release() {
        if (counted > 0) capacity.release(organization, counted);
        counted = 0;
      },
    };
  };
}
