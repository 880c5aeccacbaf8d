import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { getTrace, listAgents } from "../../api/requests.ts";
import type { Trace } from "../../api/types.ts";
import { useRole } from "../../api/useRole.ts";
import { formatCount, formatDuration, formatExact, formatNumber } from "../../format/index.ts";
import { PrincipalLink } from "../../parts/ActorLink.tsx";
import { SourceLink } from "../../parts/SourceLink.tsx";
import { Status } from "../../parts/Status.tsx";
import { ThingScreen } from "../../parts/ThingScreen.tsx";
import { Time } from "../../parts/Time.tsx";
import { WaitsForPerson } from "../../parts/WaitsForPerson.tsx";
import { PromptCard } from "./PromptCard.tsx";
import { Waterfall } from "./Waterfall.tsx";
import "./request.css";

const route = getRouteApi("/requests/$turnId");

const Mono = ({ name, value }: { name: string; value: string | null }) =>
  value && (
    <>
      <dt>{name}</dt>
      <dd className="mono">{value}</dd>
    </>
  );

function Facts({ trace }: { trace: Trace }) {
  const agents = useQuery(listAgents);
  const { agent, usage } = trace;
  const name = agents.data?.data.find(({ id }) => id === agent?.id)?.name;
  return (
    <dl className="facts">
      {agent && (
        <>
          <dt>Agent</dt>
          <dd>
            <Link to="/requests" search={{ agent: agent.id }}>
              {name ?? agent.id}
            </Link>
            , version {agent.version}
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
      <dt>Started</dt>
      <dd>
        <Time at={trace.started_at} /> <span className="quiet">({formatExact(trace.started_at)})</span>
      </dd>
      <dt>Took</dt>
      <dd>{trace.duration_ms === null ? "not over" : formatDuration(trace.duration_ms)}</dd>
      <dt>Tokens</dt>
      <dd>
        {formatNumber(usage.prompt_tokens)} in ({formatNumber(usage.cached_tokens)} cached),{" "}
        {formatNumber(usage.completion_tokens)} out ({formatNumber(usage.reasoning_tokens)} reasoning)
      </dd>
      {usage.cost !== undefined && (
        <>
          <dt>Cost</dt>
          <dd>{usage.cost} USD</dd>
        </>
      )}
      <Mono name="Id" value={trace.id} />
      <Mono name="Thread" value={trace.thread_id} />
      <Mono name="x-request-id" value={trace.request_id} />
      <Mono name="Trace" value={trace.trace_id} />
    </dl>
  );
}

function Answer({ answer }: Pick<Trace, "answer">) {
  if (!answer) return null;
  const sources = [...new Map(answer.citations.map((one) => [one.url + one.title, one])).values()];
  return (
    <section className="card part" aria-labelledby="answer">
      <h2 id="answer">Answer</h2>
      <p className="body-text said">{answer.text || "(no text)"}</p>
      {sources.length > 0 && (
        <>
          <h3>Sources</h3>
          <ol>
            {sources.map(({ url, title, seq, version }) => (
              <li key={url + title}>
                <SourceLink url={url} seq={seq} version={version}>
                  {title}
                </SourceLink>
              </li>
            ))}
          </ol>
        </>
      )}
    </section>
  );
}

function Events({ trace }: { trace: Trace }) {
  const { isAdmin } = useRole();
  return (
    <section className="card part" aria-labelledby="events">
      <h2 id="events">What the log has of it</h2>
      <ol className="plain">
        {trace.events.map(({ cursor, type, recorded_at }) => (
          <li key={cursor} className="event-line">
            <span className="mono">{type}</span>
            <Time at={recorded_at} />
          </li>
        ))}
      </ol>
      {isAdmin && (
        <p>
          <Link to="/log" search={{ stream: `thread-${trace.thread_id}` }}>
            See the log of its thread
          </Link>
        </p>
      )}
    </section>
  );
}

const Details = ({ trace }: { trace: Trace }) => (
  <>
    <header className="title-line">
      <h1>Request</h1>
      <Status status={trace.status} />
      <span className="quiet">
        {formatCount(trace.rounds.flatMap(({ calls }) => calls).length, "tool call")},{" "}
        {formatCount(trace.attempts.length, "attempt")}
      </span>
    </header>
    <Facts trace={trace} />
    <WaitsForPerson trace={trace} />
    {trace.answer?.error && (
      <p className="notice bad">
        <strong>It failed:</strong> {trace.answer.error}
      </p>
    )}
    <Waterfall trace={trace} />
    <PromptCard trace={trace} />
    <Answer answer={trace.answer} />
    <Events trace={trace} />
  </>
);

/** One request: what it spent its time on, the exact prompt, the answer, and the events behind it. */
export function RequestPage() {
  const { turnId } = route.useParams();
  const trace = useQuery(getTrace(turnId));
  return (
    <ThingScreen back={<Link to="/requests">← Requests</Link>} query={trace} kind="Request">
      {(data) => <Details trace={data} />}
    </ThingScreen>
  );
}
