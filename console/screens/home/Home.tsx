import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { Link, Navigate } from "@tanstack/react-router";
import { useId, type ReactNode } from "react";
import { getHealth, listFailedRuns } from "../../api/home.ts";
import { listApprovals, getSession } from "../../api/queries.ts";
import { serviceNow } from "../../api/serviceClock.ts";
import { listBudgets, usedPercent, WARNED_PERCENT } from "../../api/spending.ts";
import type { Page } from "../../api/types.ts";
import { useRole } from "../../api/useRole.ts";
import { localDay, startOfDay } from "../../format/days.ts";
import { formatCount } from "../../format/index.ts";
import { QueryResult } from "../../parts/Notices.tsx";
import { Status } from "../../parts/Status.tsx";
import { Time } from "../../parts/Time.tsx";
import { useNow } from "../../parts/useNow.ts";
import { FailedRequests } from "./FailedRequests.tsx";
import { GettingStarted } from "./GettingStarted.tsx";
import "./home.css";

const SHOWN = 3;

interface PanelProps<T> {
  title: string;
  query: UseQueryResult<Page<T>>;
  what: string;
  /** The meaning of an empty list. */
  none: string;
  /** Renders one of the first items. */
  item: (thing: T) => ReactNode;
  /** Links to the complete list. */
  all: (total: number) => ReactNode;
}

/** The first items of a list that needs attention. */
function Panel<T extends { id: string }>({ title, query, what, none, item, all }: PanelProps<T>) {
  const id = useId();
  return (
    <section className="card panel" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <QueryResult query={query} what={what}>
        {({ data, total }) =>
          total === 0 ? (
            <p className="quiet">{none}</p>
          ) : (
            <>
              <ul className="plain stack">
                {data.slice(0, SHOWN).map((thing) => (
                  <li key={thing.id}>{item(thing)}</li>
                ))}
              </ul>
              <p>{all(total)}</p>
            </>
          )
        }
      </QueryResult>
    </section>
  );
}

const Ago = ({ at }: { at: string }) => (
  <span className="quiet">
    <Time at={at} />
  </span>
);

/** Approvals that wait for the person, the oldest first. */
const NeedsYou = () => (
  <Panel
    title="Needs you"
    query={useQuery(listApprovals("pending"))}
    what="approvals"
    none="Nothing waits for you."
    item={({ id, title, created_at }) => (
      <>
        <Link to="/inbox/$approvalId" params={{ approvalId: id }} data-row>
          {title}
        </Link>{" "}
        <Ago at={created_at} />
      </>
    )}
    all={(total) => <Link to="/inbox">{formatCount(total, "approval")} in the inbox</Link>}
  />
);

function FailedToday({ day }: { day: string }) {
  return (
    <Panel
      title="Runs that failed today"
      query={useQuery(listFailedRuns(startOfDay(day)!))}
      what="failed runs"
      none="None of the runs that began today has failed."
      item={({ id, workflow_name, error, created_at }) => (
        <>
          <Link to="/runs/$runId" params={{ runId: id }} data-row>
            {workflow_name ?? "A deleted workflow"}
          </Link>{" "}
          <Ago at={created_at} />
          <p className="bad-text clipped">{error}</p>
        </>
      )}
      all={(total) => (
        <>
          <Link to="/runs" search={{ status: "failed", from: day }}>
            {formatCount(total, "failed run")}
          </Link>{" "}
          <span className="quiet">of those that began today</span>
        </>
      )}
    />
  );
}

function HealthPanel() {
  const health = useQuery(getHealth);
  const { isAdmin } = useRole();
  return (
    <section className="card panel" aria-labelledby="health">
      <h2 id="health">Health</h2>
      <QueryResult query={health} what="the state of the service">
        {({ isReady, problems }) => (
          <>
            <p>
              <Status status={isReady ? "ready" : "failed"} />{" "}
              {isReady ? "The service takes requests." : "The service cannot do all of its work."}
            </p>
            {isAdmin && (
              <p>
                <Link to="/health">See every part</Link>
              </p>
            )}
            {problems.length > 0 && (
              <ul className="problems">
                {problems.map((problem) => (
                  <li key={problem}>{problem}</li>
                ))}
              </ul>
            )}
          </>
        )}
      </QueryResult>
    </section>
  );
}

/** Budgets that are nearly used up, for administrators. */
function BudgetWarning() {
  const { data } = useQuery(listBudgets);
  const near = data?.data.filter((budget) => usedPercent(budget) >= WARNED_PERCENT) ?? [];
  if (near.length === 0) return null;
  return (
    <p className="notice warn" role="status">
      <Link to="/spending">{formatCount(near.length, "budget")}</Link> {near.length === 1 ? "is" : "are"} used up by{" "}
      {WARNED_PERCENT} % or more.
    </p>
  );
}

/** A viewer may read, and nothing else. */
const ViewerStart = () => (
  <section className="card panel" aria-labelledby="look">
    <h2 id="look">What you can look at</h2>
    <ul>
      <li>
        <Link to="/knowledge">Documents</Link>, which can be read and searched.
      </li>
      <li>
        <Link to="/runs">Runs</Link> of workflows, step by step.
      </li>
      <li>
        <Link to="/agents">Agents</Link> and <Link to="/workflows">workflows</Link>, as they are set up.
      </li>
    </ul>
    <p className="quiet">
      A viewer reads, and decides only what waits for them by name. Owners and administrators can give you another role.{" "}
      <Link to="/members">See who they are</Link>.
    </p>
  </section>
);

/** The first screen of a person: things to try, and things that need attention. Approvers see their inbox instead. */
export function Home() {
  const { data } = useQuery(getSession);
  const { isAdmin, isBuilder, mayWrite } = useRole();
  // a page that stays open shows the new day after midnight
  useNow();
  const day = localDay(new Date(serviceNow()));
  if (data?.user.role === "approver") return <Navigate to="/inbox" replace />;
  return (
    <div className="screen">
      <h1>Home</h1>
      {isAdmin && <BudgetWarning />}
      {mayWrite && <GettingStarted />}
      {data?.user.role === "viewer" && <ViewerStart />}
      <div className="panels">
        {mayWrite && <NeedsYou />}
        <FailedToday day={day} />
        {isBuilder && <FailedRequests day={day} />}
        <HealthPanel />
      </div>
    </div>
  );
}
