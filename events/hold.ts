import { z } from "zod";
import { deriveId, streamName } from "./ids.ts";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";

/** What a hold covers. An external user is named by the keyed hash of the value. */
export const HOLD_SUBJECT =
  /^(organization|(project|key|person|agent|thread|file|document|run):[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|user:.{1,600})$/s;

/** All holds of an organization are one stream, so that one head row shows all active holds. */
export const holdStream = (organization: string): string => streamName("hold", deriveId("hold", organization));

const Id = z.object({ hold_id: z.uuid() });
const Placed = Id.extend({ subject: z.string().regex(HOLD_SUBJECT), name: z.string() });
const Personal = z.object({ reason: z.string() });

/**
 * From its commit on, the hold keeps what its subject covers. A deletion that was decided before and is not committed yet
 * conflicts, and is decided again.
 */
export const PlaceHold = defineCommand("PlaceHold", "hold", Placed.extend(Personal.shape));
export const ReleaseHold = defineCommand("ReleaseHold", "hold", Id);

export const HoldPlaced = defineEvent("HoldPlaced", {
  public: Placed,
  personal: Personal,
  thing: ({ hold_id }) => streamName("hold", hold_id),
  opens: true,
});
export const HoldReleased = defineEvent("HoldReleased", { public: Id });

export type HoldCommand = CommandsIn<typeof import("./hold.ts")>;
export type HoldEvent = EventsIn<typeof import("./hold.ts")>;
