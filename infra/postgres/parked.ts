import type { Logger } from "pino";
import type { RecordedEvent } from "#events/envelope.ts";
import type { Projection } from "#projections/projection.ts";

type ParkedEvent = Pick<RecordedEvent, "stream" | "position">;

/** A stream that a projection cannot follow, from this event on. */
export interface ParkedStream extends ParkedEvent {
  error: string;
}

export const parkedStream = ({ stream, position }: ParkedEvent, error: Error): ParkedStream => ({
  stream,
  position,
  error: `${error.name}: ${error.message}`,
});

export function logParked(logger: Logger, projection: Projection, { stream, position }: ParkedEvent, err: Error): void {
  logger.error(
    { err, projection: projection.name, stream, position },
    "stream parked: the projection cannot follow it",
  );
}
