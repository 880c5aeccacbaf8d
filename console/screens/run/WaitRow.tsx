import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Run, RunWait } from "../../api/run.ts";
import { formatCount, formatDuration } from "../../format/index.ts";
import { ActorLink } from "../../parts/ActorLink.tsx";
import { Bar, type Bounds } from "../../parts/Bar.tsx";
import { RunLink } from "../../parts/RunLink.tsx";
import { Status } from "../../parts/Status.tsx";
import { StepItem, StepLink } from "../../parts/StepLine.tsx";
import { Time } from "../../parts/Time.tsx";
import { Comments } from "../inbox/Comments.tsx";

const LIMITS = {
  approval: "Expires",
  timer: "Fires",
  run: "Times out",
  event: "Times out",
  agent: "Times out",
} as const;

/** The subject of a wait, in the words of a row. */
export function nameOf({ type, name, run_id }: RunWait): string {
  if (type === "timer") return "Timer";
  if (type === "run") return `End of run ${run_id?.slice(-8)}`;
  if (type === "agent") return `Agent ${name ?? "(erased)"}`;
  return type === "event" ? `Event ${name ?? "(erased)"}` : `Approval ${name}`;
}

const Fact = ({ title, children }: { title: string; children: ReactNode }) => (
  <>
    <dt>{title}</dt>
    <dd>{children}</dd>
  </>
);

/** The events of an approval before its decision. */
const ApprovalFacts = ({ wait }: { wait: RunWait }) => {
  const { approval_id, reminded_at, escalated_at, links, decided_by } = wait;
  return (
    <>
      {approval_id && (
        <>
          <Fact title="Approval">
            <Link to="/inbox/$approvalId" params={{ approvalId: approval_id }}>
              Open it
            </Link>
          </Fact>
          <Fact title="Comments">
            <Comments approval={{ id: approval_id, status: wait.outcome ?? "pending" }} />
          </Fact>
        </>
      )}
      {reminded_at && (
        <Fact title="Reminded">
          <Time at={reminded_at} />
        </Fact>
      )}
      {escalated_at && (
        <Fact title="Escalated">
          <Time at={escalated_at} />
        </Fact>
      )}
      {links > 0 && <Fact title="Shared">{formatCount(links, "link")} for people without an account</Fact>}
      {decided_by && (
        <Fact title="Decided by">
          <ActorLink actor={decided_by} />
        </Fact>
      )}
    </>
  );
};

const Details = ({ wait }: { wait: RunWait }) => (
  <dl className="facts">
    {wait.run_id && (
      <Fact title="Awaited">
        <RunLink id={wait.run_id} />
      </Fact>
    )}
    {wait.turn_id && wait.agent_id && (
      <Fact title="Request">
        <Link to="/requests/$turnId" params={{ turnId: wait.turn_id }}>
          Open it
        </Link>
      </Fact>
    )}
    <Fact title="Since">
      <Time at={wait.since} />
    </Fact>
    <Fact title={LIMITS[wait.type]}>{wait.until ? <Time at={wait.until} /> : "never: as long as the run lives"}</Fact>
    <ApprovalFacts wait={wait} />
    {wait.event_id && (
      <Fact title="Event">
        <span className="mono">{wait.event_id}</span>
      </Fact>
    )}
    <Fact title="Ended">
      {wait.ended_at ? (
        <>
          <Time at={wait.ended_at} /> <Status status={wait.outcome ?? ""} />
        </>
      ) : (
        "not yet: the run waits"
      )}
    </Fact>
  </dl>
);

interface Props {
  run: Run;
  wait: RunWait;
  isOpen: boolean;
  bounds: Bounds;
}

/** One wait over its duration; if opened, with its subject and its end. */
export function WaitRow({ run, wait, isOpen, bounds }: Props) {
  const start = Date.parse(wait.since);
  const end = wait.ended_at ? Date.parse(wait.ended_at) : bounds.to;
  const line = (
    <StepLink
      to="/runs/$runId"
      params={{ runId: run.id }}
      search={isOpen ? {} : { step: wait.key }}
      replace
      isOpen={isOpen}
    >
      <span className="step-name">{nameOf(wait)}</span>
      <Status status={wait.outcome ?? "waiting"} />
      <Bar within={bounds} start={start} end={end} tone="wait" />
      <span className="quiet number">{formatDuration(Math.max(0, end - start))}</span>
    </StepLink>
  );
  return <StepItem line={line}>{isOpen && <Details wait={wait} />}</StepItem>;
}
