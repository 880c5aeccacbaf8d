import { useQuery } from "@tanstack/react-query";
import { Link, Navigate } from "@tanstack/react-router";
import { useState } from "react";
import { getHealth, listFailedRuns } from "../../api/home.ts";
import { listApprovals, whoAmI } from "../../api/queries.ts";
import { formatCount } from "../../format/index.ts";
import { Loaded } from "../../parts/Notices.tsx";
import { Status } from "../../parts/Status.tsx";
import { Time } from "../../parts/Time.tsx";
import { Trials } from "./Trials.tsx";
import "./home.css";

const SHOWN = 3;

function startOfDay(): string {
  const day = new Date();
  day.setHours(0, 0, 0, 0);
  return day.toISOString();
}

/** Approvals that wait for the person, the oldest first. */
function NeedsYou() {
  const approvals = useQuery(listApprovals("pending", 50));
  return (
    <section className="card panel" aria-labelledby="needs-you">
      <h2 id="needs-you">Needs you</h2>
      <Loaded query={approvals} what="approvals">
        {({ data, total }) =>
          total === 0 ? (
            <p className="quiet">Nothing waits for you.</p>
          ) : (
            <>
              <ul className="plain stack">
                {data.slice(0, SHOWN).map(({ id, title, created_at }) => (
                  <li key={id}>
                    <Link to="/inbox/$approvalId" params={{ approvalId: id }} data-row>
                      {title}
                    </Link>{" "}
                    <span className="quiet">
                      <Time at={created_at} />
                    </span>
                  </li>
                ))}
              </ul>
              <p>
                <Link to="/inbox">{formatCount(total, "approval")} in the inbox</Link>
              </p>
            </>
          )
        }
      </Loaded>
    </section>
  );
}

function FailedToday() {
  const [from] = useState(startOfDay);
  const runs = useQuery(listFailedRuns(from));
  return (
    <section className="card panel" aria-labelledby="failed">
      <h2 id="failed">Failed today</h2>
      <Loaded query={runs} what="failed runs">
        {({ data, total }) =>
          total === 0 ? (
            <p className="quiet">No run has failed today.</p>
          ) : (
            <>
              <ul className="plain stack">
                {data.slice(0, SHOWN).map(({ id, workflow_name, error, created_at }) => (
                  <li key={id}>
                    <Link to="/runs/$runId" params={{ runId: id }} data-row>
                      {workflow_name ?? "A deleted workflow"}
                    </Link>{" "}
                    <span className="quiet">
                      <Time at={created_at} />
                    </span>
                    <p className="bad-text clipped">{error}</p>
                  </li>
                ))}
              </ul>
              <p>
                <Link to="/runs" search={{ status: "failed" }}>
                  {formatCount(total, "failed run")}
                </Link>
              </p>
            </>
          )
        }
      </Loaded>
    </section>
  );
}

function HealthPanel() {
  const health = useQuery(getHealth);
  return (
    <section className="card panel" aria-labelledby="health">
      <h2 id="health">Health</h2>
      <Loaded query={health} what="the state of the service">
        {({ isReady, problems }) => (
          <>
            <p>
              <Status status={isReady ? "ready" : "failed"} />{" "}
              {isReady ? "The service takes requests." : "The service cannot do all of its work."}
            </p>
            {problems.length > 0 && (
              <ul className="problems">
                {problems.map((problem) => (
                  <li key={problem}>{problem}</li>
                ))}
              </ul>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

/** What a person sees first: what to try, and what needs attention. Approvers see their inbox instead. */
export function Home() {
  const { data } = useQuery(whoAmI);
  if (data?.user.role === "approver") return <Navigate to="/inbox" replace />;
  return (
    <div className="screen">
      <h1>Home</h1>
      <Trials />
      <div className="panels">
        <NeedsYou />
        <FailedToday />
        <HealthPanel />
      </div>
    </div>
  );
}
