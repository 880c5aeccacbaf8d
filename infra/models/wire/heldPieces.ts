import { currentOwner } from "#events/owner.ts";
import { createCapacity } from "#services/sharing/capacity.ts";

/** Bytes of pieces of answers that have not arrived whole: those of all organizations, and of one. */
const MAX_HELD = { total: 128 * 1024 * 1024, perTenant: 48 * 1024 * 1024 };
/** A piece up to this size counts as nothing. */
const FREE = 64 * 1024;

const held = createCapacity(MAX_HELD);

/** Counts the piece that is arriving, for the organization whose turn it is: hundreds of providers may each send half of a long one. */
export function holdPiece() {
  const owner = currentOwner() ?? "";
  let counted = 0;
  return {
    /** False when there is no room for a piece that has grown to this size. */
    grow(size: number): boolean {
      if (size <= FREE) return true;
      const more = size - counted;
      if (!held.hasRoom(owner, more)) return false;
      held.take(owner, more);
      counted = size;
      return true;
    },
    release(): void {
      if (counted > 0) held.release(owner, counted);
      counted = 0;
    },
  };
}
