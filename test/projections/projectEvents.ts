import type { NewEvent } from "#events/define.ts";
import type { RecordedEvent } from "#events/envelope.ts";
import type { Change, Projection } from "#projections/projection.ts";

export const ORGANIZATION = "0198c0de-0000-7000-8000-000000000001";
export const RECORDED_AT = new Date("2026-01-02T03:04:05.000Z");

/** The changes that a projection makes for events; the first event has position 1. */
export function projectEvents(projection: Projection, stream: string, ...events: NewEvent[]): Change[] {
  return events.flatMap((event, n) => {
    const recorded: RecordedEvent = {
      position: n + 1,
      stream,
      version: n + 1,
      organization_id: ORGANIZATION,
      type: event.type,
      data: event.data,
      personal: event.personal,
      command_id: "c0",
      recorded_at: RECORDED_AT,
      meta: { principal: "system", request_id: "r0" },
    };
    return projection.on[event.type]?.(recorded) ?? [];
  });
}

/** The event as readers see it after its thing was erased. */
export const erased = <E extends NewEvent>(event: E): E => ({ ...event, personal: undefined });
