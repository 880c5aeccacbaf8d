import { Link } from "@tanstack/react-router";
import type { OpenWait } from "../../api/run.ts";
import { RunLink } from "../../parts/RunLink.tsx";
import { Time } from "../../parts/Time.tsx";

const Until = ({ until }: { until: string | null }) =>
  until && (
    <>
      , until <Time at={until} />
    </>
  );

/** The waits of a live run, as the end of a sentence. */
export function WaitDescription({ waiting }: { waiting: OpenWait }) {
  switch (waiting.type) {
    case "approval":
      return (
        <>
          the approval{" "}
          <Link to="/inbox/$approvalId" params={{ approvalId: waiting.id }}>
            {waiting.name}
          </Link>
          , which expires <Time at={waiting.expires_at} />
        </>
      );
    case "timer":
      return (
        <>
          a timer that ends <Time at={waiting.until} />
        </>
      );
    case "run":
      return (
        <>
          the end of <RunLink id={waiting.run_id} />
          <Until until={waiting.until} />
        </>
      );
    case "event":
      return (
        <>
          the event {waiting.name ?? "(erased)"}
          <Until until={waiting.until} />
        </>
      );
    case "agent":
      return <>the agent {waiting.name ?? "(erased)"}</>;
    default:
      return (
        <>
          the step {waiting.name}
          {waiting.next_attempt_at && (
            <>
              , which is tried again <Time at={waiting.next_attempt_at} />
            </>
          )}
        </>
      );
  }
}
