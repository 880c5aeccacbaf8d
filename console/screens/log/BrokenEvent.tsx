import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { EventCheck } from "../../api/events.ts";

type EventName = Pick<NonNullable<EventCheck["broken"]>, "type" | "version" | "stream" | "cursor">;

/** The first altered event, by its name. */
export const BrokenEvent = ({ event, children }: { event: EventName; children: ReactNode }) => (
  <div className="notice bad" role="alert">
    <p>
      <strong>
        {event.type}, event {event.version} of{" "}
        <Link className="mono" to="/log" search={{ stream: event.stream, event: event.cursor }}>
          {event.stream}
        </Link>
        , does not fit:
      </strong>{" "}
      {children}
    </p>
    <p>
      The events before it fit. Ask the operator of the service to run <code>svc log verify</code>, and keep a backup.
    </p>
  </div>
);
