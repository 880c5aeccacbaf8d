import { Link } from "@tanstack/react-router";
import type { Trace } from "../../api/trace.ts";
import { useRole } from "../../api/useRole.ts";
import { formatCost, formatCount, formatDuration, formatExact, formatNumber } from "../../format/index.ts";
import { PrincipalLink } from "../../parts/ActorLink.tsx";
import { Status } from "../../parts/Status.tsx";
import { Time } from "../../parts/Time.tsx";
import { ElapsedTime } from "../../parts/ElapsedTime.tsx";
import { PendingApprovals } from "../../parts/PendingApprovals.tsx";
import { Answer } from "./Answer.tsx";
import { AskAgain } from "./AskAgain.tsx";
import { PromptCard } from "./PromptCard.tsx";
import { AgentLinks, ThreadLinks } from "./RelatedLinks.tsx";
import { Targets } from "./Targets.tsx";
import { Waterfall } from "./Waterfall.tsx";
import "./request.css";

const Mono = ({ name, value }: { name: string; value: string | null }) =>
  value && (
    <>
      <dt>{name}</dt>
      <dd className="mono">{value}</dd>
    </>
  );

/** The labels that the caller set. Administrators see the cost of each label. */
function Labels({ labels }: { labels: Record<string, string> }) {
  const { isAdmin } = useRole();
  return (
    <ul className="plain">
      {Object.entries(labels).map(([label, value]) => (
        <li key={label}>
          {isAdmin ? (
            <Link to="/usage" search={{ by: "label", label }}>
              {label}={value}
            </Link>
          ) : (
            `${label}=${value}`
          )}
        </li>
      ))}
    </ul>
  );
}

/** The duration until the end; for a running request, until the displayed time. */
function Duration({ trace, until }: { trace: Trace; until: number | undefined }) {
  if (trace.duration_ms !== null) return formatDuration(trace.duration_ms);
  if (until === undefined) return <ElapsedTime since={trace.started_at} until={null} />;
  return `${formatDuration(until - Date.parse(trace.started_at))} so far`;
}

function Facts({ trace, until }: { trace: Trace; until: number | undefined }) {
  const { agent, usage } = trace;
  return (
    <dl className="facts">
      {agent && (
        <>
          <dt>Agent</dt>
          <dd>
            <AgentLinks agent={agent} />
          </dd>
        </>
      )}
      <dt>Model</dt>
      <dd>{trace.model}</dd>
      <dt>Asked by</dt>
      <dd>
        <PrincipalLink principal={trace.principal} />
        {" · "}
        <Link to="/requests" search={{ who: trace.principal }}>
          all requests
        </Link>
      </dd>
      {trace.labels && (
        <>
          <dt>Labels</dt>
          <dd>
            <Labels labels={trace.labels} />
          </dd>
        </>
      )}
      <dt>Started</dt>
      <dd>
        <Time at={trace.started_at} /> <span className="quiet">({formatExact(trace.started_at)})</span>
      </dd>
      <dt>Took</dt>
      <dd>
        <Duration trace={trace} until={until} />
      </dd>
      <dt>Tokens</dt>
      <dd>
        {formatNumber(usage.prompt_tokens)} in ({formatNumber(usage.cached_tokens)} cached),{" "}
        {formatNumber(usage.completion_tokens)} out ({formatNumber(usage.reasoning_tokens)} reasoning)
      </dd>
      {usage.cost !== undefined && (
        <>
          <dt>Cost</dt>
          <dd>{formatCost(usage.cost)}</dd>
        </>
      )}
      <Mono name="Id" value={trace.id} />
      <dt>Conversation</dt>
      <dd>
        <ThreadLinks trace={trace} />
      </dd>
      <Mono name="x-request-id" value={trace.request_id} />
      <Mono name="Trace" value={trace.trace_id} />
    </dl>
  );
}

interface EventsProps {
  trace: Trace;
  /** The newest trace of the same turn. An older trace lacks later events. */
  newest: Trace;
  asOf: string | undefined;
}

/** The events of the request. Each links to the request as of that event. */
function Events({ trace, newest, asOf }: EventsProps) {
  const { isAdmin } = useRole();
  const last = asOf ?? newest.events.at(-1)?.cursor;
  return (
    <section className="card part" aria-labelledby="events">
      <h2 id="events">What the log has of it</h2>
      <ol className="plain">
        {newest.events.map(({ cursor, type, recorded_at }) => (
          <li key={cursor} className="event-line">
            {isAdmin ? (
              <Link className="mono" to="/log" search={{ stream: `thread-${trace.thread_id}`, event: cursor }}>
                {type}
              </Link>
            ) : (
              <span className="mono">{type}</span>
            )}
            <span>
              <Time at={recorded_at} />{" "}
              {cursor === last ? (
                <strong>shown</strong>
              ) : (
                <Link
                  to="/requests/$turnId"
                  params={{ turnId: trace.id }}
                  search={{ as_of: cursor === newest.events.at(-1)?.cursor ? undefined : cursor }}
                  resetScroll={false}
                >
                  as of here
                </Link>
              )}
            </span>
          </li>
        ))}
      </ol>
      {isAdmin && (
        <p>
          <Link to="/log" search={{ stream: `thread-${trace.thread_id}` }}>
            See the log of its conversation
          </Link>
        </p>
      )}
    </section>
  );
}

const momentOf = ({ events }: Trace, cursor: string): number | undefined => {
  const event = events.find((one) => one.cursor === cursor);
  return event && Date.parse(event.recorded_at);
};

interface Props extends EventsProps {
  /** The open line of the timeline. */
  line?: string | undefined;
  /** The model call whose prompt is shown, from 1; undefined means the last one. */
  prompt?: number | undefined;
}

/** The timeline of a request, the exact prompt, the answer, and the events. */
export function TraceDetails({ trace, newest, asOf, line, prompt }: Props) {
  const until = asOf === undefined ? undefined : momentOf(newest, asOf);
  return (
    <>
      <p className="title-line">
        <Status status={trace.status} />
        <span className="quiet">
          {formatCount(trace.rounds.flatMap(({ calls }) => calls).length, "tool call")},{" "}
          {formatCount(trace.attempts.length, "attempt")}
        </span>
        <AskAgain trace={trace} />
      </p>
      <Facts trace={trace} until={until} />
      <PendingApprovals trace={trace} />
      {trace.answer?.error && (
        <p className="notice bad">
          <strong>It failed:</strong> {trace.answer.error}
        </p>
      )}
      <Targets trace={trace} />
      <Waterfall trace={trace} open={line} until={until} />
      <PromptCard trace={trace} chosen={prompt} />
      <Answer trace={trace} />
      <Events trace={trace} newest={newest} asOf={asOf} />
    </>
  );
}
