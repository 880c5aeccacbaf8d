import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { call } from "../../api/call.ts";
import { getRun, type OpenWait, type Run, type RunWait } from "../../api/run.ts";
import { useRole } from "../../api/useRole.ts";
import { formatCount, formatNumber } from "../../format/index.ts";
import { ActorLink } from "../../parts/ActorLink.tsx";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { ErrorNotice } from "../../parts/Notices.tsx";
import { Status } from "../../parts/Status.tsx";
import { ThingScreen } from "../../parts/ThingScreen.tsx";
import { Time } from "../../parts/Time.tsx";
import { ElapsedTime } from "../../parts/ElapsedTime.tsx";
import { ValueBlock } from "../../parts/ValueBlock.tsx";
import { useChange } from "../../parts/useChange.ts";
import { ChildRuns } from "./ChildRuns.tsx";
import { Continuations, isLive, RetryButton } from "./Continuations.tsx";
import { RunFiles } from "./RunFiles.tsx";
import { SourcePlace } from "./SourcePlace.tsx";
import { Timeline } from "./Timeline.tsx";
import { WaitDescription } from "./WaitDescription.tsx";

/** Maximum number of waits that are listed above the timeline. */
const MAX_WAITING = 5;
const route = getRouteApi("/runs/$runId");

const WAITS: Record<RunWait["type"], string> = {
  approval: "approval",
  timer: "timer",
  run: "wait for a run",
  event: "wait for an event",
  agent: "question to an agent",
};

/** "2 waits for a run": the plural is on the first word. */
const describeCount = (count: number, what: string): string => {
  const [first = "", ...rest] = what.split(" ");
  return [formatCount(count, first), ...rest].join(" ");
};

/** The run's activity so far, without zero counts. */
function describeActivity({ counts, waits }: Run): string {
  const { steps, attempts, ticks } = counts;
  const ofWaits = Object.entries(WAITS).map(([type, name]): [number, string] => [
    waits.filter((wait) => wait.type === type).length,
    name,
  ]);
  const all: [number, string][] = [[steps, "step"], [attempts, "attempt"], ...ofWaits, [ticks, "tick"]];
  return (
    all
      .filter(([count]) => count > 0)
      .map(([count, what]) => describeCount(count, what))
      .join(", ") || "nothing yet"
  );
}

function Facts({ run }: { run: Run }) {
  const { isAdmin } = useRole();
  return (
    <dl className="facts">
      <dt>Created</dt>
      <dd>
        <Time at={run.created_at} />
      </dd>
      <dt>Started by</dt>
      <dd>
        <ActorLink actor={run.started_by} />
      </dd>
      {run.cancelled_by && (
        <>
          <dt>Cancelled by</dt>
          <dd>
            <ActorLink actor={run.cancelled_by} />
            {run.cancel_reason && `: ${run.cancel_reason}`}
          </dd>
        </>
      )}
      <dt>Took</dt>
      <dd>
        <ElapsedTime since={run.started_at} until={run.completed_at} />
      </dd>
      <dt>Did</dt>
      <dd>{describeActivity(run)}</dd>
      <dt>Version</dt>
      <dd>{run.definition_version}</dd>
      <dt>Id</dt>
      <dd>
        <span className="mono">{run.id}</span>
        {isAdmin && (
          <>
            {" · "}
            <Link to="/log" search={{ stream: `run-${run.id}` }}>
              its log
            </Link>
            {" · "}
            <Link to="/privacy" search={{ section: "holds", subject: `run:${run.id}` }}>
              place a hold
            </Link>
          </>
        )}
      </dd>
    </dl>
  );
}

function CancelButton({ run }: { run: Run }) {
  const { mayWrite } = useRole();
  const cancel = useChange("run", () => call(`workflows/runs/${run.id}/cancel`, { method: "POST", body: {} }));
  if (!isLive(run) || !mayWrite) return null;
  return (
    <>
      <ActionButton
        label="Cancel run"
        question="Stop this run for good? Steps that are running end by themselves."
        isDangerous
        action={cancel}
      />
      {cancel.isError && <ErrorNotice error={cancel.error} />}
    </>
  );
}

const Problems = ({ run }: { run: Run }) => (
  <>
    {run.error && (
      <div className="notice bad">
        <p>
          <strong>{run.error_info?.step ? `The step ${run.error_info.step} failed` : "The run failed"}:</strong>{" "}
          {run.error}
        </p>
        {run.error_info && <p className="quiet mono">code {run.error_info.code}</p>}
        {run.error_info && <SourcePlace run={run} place={run.error_info} />}
      </div>
    )}
    {run.warnings.map((warning) => (
      <p key={`${warning.code}${warning.line}`} className="notice warn">
        {warning.message}
        {warning.line !== null && ` (line ${warning.line})`}
      </p>
    ))}
  </>
);

/** Whether a live run waits only for external events, so that no process works on it. */
const isIdle = (run: Run): boolean =>
  isLive(run) && run.waiting_on.length > 0 && run.waiting_on.every(({ type }) => type !== "step");

/** The waits of a run; steps that differ only in their arguments are counted together. */
function countWaits(run: Run): { waiting: OpenWait; count: number }[] {
  const waits = new Map<string, { waiting: OpenWait; count: number }>();
  for (const waiting of run.waiting_on) {
    const isPlain = waiting.type === "step" && waiting.next_attempt_at === null;
    const key = isPlain ? waiting.name : String(waits.size);
    const known = waits.get(`${isPlain} ${key}`);
    waits.set(`${isPlain} ${key}`, { waiting, count: (known?.count ?? 0) + 1 });
  }
  return [...waits.values()];
}

function Details({ run }: { run: Run }) {
  const waits = countWaits(run);
  return (
    <>
      <header className="title-line">
        <h1>{run.workflow_name ?? "Deleted workflow"}</h1>
        <Status status={run.status} />
        {isIdle(run) && <Status status="waiting" />}
        <CancelButton run={run} />
        <RetryButton run={run} />
      </header>
      <Continuations run={run} />
      <Facts run={run} />
      <Problems run={run} />
      {isLive(run) && run.waiting_on.length > 0 && (
        <div className="notice warn">
          {waits.slice(0, MAX_WAITING).map(({ waiting, count }, n) => (
            <p key={n}>
              Waits for <WaitDescription waiting={waiting} />
              {count > 1 && ` (${formatNumber(count)} times)`}.
            </p>
          ))}
          {waits.length > MAX_WAITING && (
            <p>And for {formatNumber(waits.length - MAX_WAITING)} more, which the timeline shows.</p>
          )}
        </div>
      )}
      <Timeline run={run} />
      <ChildRuns run={run} isOver={!isLive(run)} />
      <RunFiles run={run.id} />
      <div className="pair">
        <ValueBlock label="Arguments" value={run.args} />
        {run.status === "completed" && <ValueBlock label="Result" value={run.result} />}
      </div>
      {run.logs.length > 0 && <ValueBlock label="Log of run()" value={run.logs.map(({ text }) => text).join("\n")} />}
    </>
  );
}

/** One run: its waits, its steps over time, and every value. */
export function RunPage() {
  const { runId } = route.useParams();
  const run = useQuery(getRun(runId));
  return (
    <ThingScreen back={<Link to="/runs">← Runs</Link>} query={run} kind="Run">
      {(data) => <Details key={data.id} run={data} />}
    </ThingScreen>
  );
}
