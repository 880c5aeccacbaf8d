import { Link } from "@tanstack/react-router";
import type { Trace, TracedCall } from "../../api/trace.ts";
import type { Usage } from "../../api/types.ts";
import { formatCost, formatCount, formatDuration, formatNumber, parseJson } from "../../format/index.ts";
import { Bar, type Bounds } from "../../parts/Bar.tsx";
import { SourceLink } from "../../parts/SourceLink.tsx";
import { Status } from "../../parts/Status.tsx";
import { StepItem, StepLink } from "../../parts/StepLine.tsx";
import { useNow } from "../../parts/useNow.ts";
import { ValueBlock } from "../../parts/ValueBlock.tsx";
import { changeView } from "./search.ts";
import { boundsOf, linesOf, type Line } from "./waterfall.ts";

const tokens = ({ prompt_tokens, completion_tokens }: Usage): string =>
  `${formatNumber(prompt_tokens)} → ${formatNumber(completion_tokens)}`;

const callFacts = ({ tool_version, secrets, attempt }: TracedCall): string =>
  [
    tool_version === null ? "built in" : `version ${tool_version}`,
    attempt !== null && `attempt ${attempt}`,
    secrets.length > 0 && `read the ${secrets.length === 1 ? "secret" : "secrets"} ${secrets.join(", ")}`,
  ]
    .filter(Boolean)
    .join(" · ");

const CallDetails = ({ call }: { call: TracedCall }) => (
  <>
    <p className="quiet">{callFacts(call)}</p>
    {call.approval && (
      <p>
        <Link to="/inbox/$approvalId" params={{ approvalId: call.approval.id }}>
          A person had to allow it
        </Link>{" "}
        <Status status={call.approval.status} />
        {call.approval.comment && <> “{call.approval.comment}”</>}
      </p>
    )}
    <div className="pair">
      <ValueBlock label="Arguments" value={parseJson(call.arguments)} />
      <ValueBlock
        label="Output, as the model received it"
        value={call.output === null ? "none yet" : parseJson(call.output)}
      />
    </div>
    {call.sources.length > 0 && (
      <ul>
        {call.sources.map((source) => (
          <li key={`${source.url} ${source.title} ${source.seq}`}>
            <SourceLink source={source}>{source.title}</SourceLink>
          </li>
        ))}
      </ul>
    )}
  </>
);

function ModelDetails({ trace, line }: { trace: Trace; line: Line }) {
  const output = line.round ?? trace.answer;
  return (
    <>
      {line.usage && (
        <p className="quiet">
          {formatCount(line.usage.prompt_tokens, "token")} in, {formatNumber(line.usage.cached_tokens)} of them cached;{" "}
          {formatCount(line.usage.completion_tokens, "token")} out, {formatNumber(line.usage.reasoning_tokens)} of them
          reasoning
          {line.usage.cost !== undefined && `; ${formatCost(line.usage.cost)}`}
        </p>
      )}
      {output?.reasoning && <ValueBlock label="Reasoning" value={output.reasoning} />}
      <ValueBlock label="Text" value={output?.text || "(none)"} />
      <p>
        <Link
          to="/requests/$turnId"
          params={{ turnId: trace.id }}
          search={changeView({ prompt: (line.round?.round ?? trace.rounds.length) + 1 })}
          hash="prompt"
        >
          See what it received
        </Link>
      </p>
    </>
  );
}

function Row({ trace, line, isOpen, within }: { trace: Trace; line: Line; isOpen: boolean; within: Bounds }) {
  const { id, label, kind, status, start, end, usage } = line;
  if (kind === "attempt")
    return (
      <StepItem
        line={
          <p className="step-line waterfall-line">
            <span className="takeover">{label}</span>
          </p>
        }
      />
    );
  const link = (
    <StepLink
      className="waterfall-line"
      to="/requests/$turnId"
      params={{ turnId: trace.id }}
      search={changeView({ line: isOpen ? undefined : id })}
      replace
      isOpen={isOpen}
    >
      <span className={kind === "tool" ? "tool-name mono" : ""}>{label}</span>
      <Status status={status} />
      <Bar within={within} start={start} end={end} tone={kind === "tool" ? status : "model"} />
      <span className="quiet number">{usage && tokens(usage)}</span>
      <span className="quiet number">{formatDuration(end - start)}</span>
    </StepLink>
  );
  return (
    <StepItem line={link}>
      {isOpen && (line.call ? <CallDetails call={line.call} /> : <ModelDetails trace={trace} line={line} />)}
    </StepItem>
  );
}

interface Props {
  trace: Trace;
  open: string | undefined;
  /** The displayed time, if it is in the past: bars that had not ended extend to it. */
  until?: number | undefined;
}

/** The timeline of the request, with every model call and tool call. */
export function Waterfall({ trace, open, until }: Props) {
  const present = useNow();
  const now = until ?? present;
  const within = boundsOf(trace, now);
  return (
    <section className="card timeline" aria-labelledby="course">
      <h2 id="course">Course</h2>
      <p className="quiet">Tokens into the model → out of it, and the time.</p>
      <ol className="plain">
        {linesOf(trace, now).map((line) => (
          <Row key={line.id} trace={trace} line={line} isOpen={open === line.id} within={within} />
        ))}
      </ol>
    </section>
  );
}
