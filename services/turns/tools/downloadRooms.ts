import { MIB } from "#events/units.ts";
import { createCapacity, type CapacityLimits } from "../../sharing/capacity.ts";
import { WebError, type DownloadRoomOf } from "./web.ts";

/** Bytes that downloads of a process hold at once: those of all organizations, and of one. */
const MAX_HELD = 192 * MIB;
const MAX_OF_ORGANIZATION = 64 * MIB;
const LIMITS: CapacityLimits = { total: MAX_HELD, perTenant: MAX_OF_ORGANIZATION };
/** The first bytes of a download do not count: most answers are shorter. */
const FREE_BYTES = 256 * 1024;

/**
 * Bounds what downloads hold: a server that sends megabytes and never ends would keep them for as long as the download may take.
 * Nothing waits with an open connection, so a download that finds no room ends.
 */
export function createDownloadRooms(limits: CapacityLimits = LIMITS): DownloadRoomOf {
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
