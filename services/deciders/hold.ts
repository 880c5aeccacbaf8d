import type { Decider } from "#events/decider.ts";
import { HoldPlaced, HoldReleased, type HoldCommand, type HoldEvent } from "#events/hold.ts";
import { Rejection } from "#events/rejection.ts";

/** Maximum holds of an organization: every erasure checks all of them. */
const MAX_HOLDS = 100;

export interface Hold {
  id: string;
  subject: string;
  name: string;
}
/** The active holds of an organization. */
export type HoldState = Hold[];

/** What must not be erased until it is released. */
export const hold: Decider<HoldState, HoldCommand, HoldEvent> = {
  version: 1,
  initial: [],
  decide(command, holds) {
    const { hold_id } = command.data;
    const isPlaced = holds.some(({ id }) => id === hold_id);
    switch (command.type) {
      case "PlaceHold": {
        if (isPlaced) throw new Rejection("already_exists", "This hold was placed already.");
        if (holds.length >= MAX_HOLDS)
          throw new Rejection("too_many_holds", `An organization has at most ${MAX_HOLDS} holds; release one first.`);
        const { reason, ...data } = command.data;
        return [HoldPlaced.of(data, { reason })];
      }
      case "ReleaseHold":
        if (!isPlaced) throw new Rejection("hold_not_found", "No standing hold has this id.", { param: "id" });
        return [HoldReleased.of({ hold_id })];
    }
  },
  evolve(holds, { type, data }) {
    switch (type) {
      case "HoldPlaced":
        return [...holds, { id: data.hold_id, subject: data.subject, name: data.name }];
      case "HoldReleased":
        return holds.filter(({ id }) => id !== data.hold_id);
    }
  },
};
