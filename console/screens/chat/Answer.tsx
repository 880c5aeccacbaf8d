import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { Link } from "@tanstack/react-router";
import type { Citation, ToolCall } from "../../api/chat.ts";
import { getTrace } from "../../api/requests.ts";
import type { Trace } from "../../api/trace.ts";
import { formatCount, formatDuration } from "../../format/index.ts";
import { Markdown } from "../../parts/Markdown.tsx";
import { markSources } from "../../parts/markSources.ts";
import { ServiceMessage } from "../../parts/ServiceMessage.tsx";
import { PendingApprovals } from "../../parts/PendingApprovals.tsx";
import { ErrorNotice } from "../../parts/Notices.tsx";
import { markOf, SourceLink } from "../../parts/SourceLink.tsx";
import { ToolCard } from "./ToolCard.tsx";
import type { Turn } from "./turns.ts";

interface ShownText {
  text: string;
  calls: ToolCall[];
  citations: Citation[];
}

/** The tools, the text with source numbers, and the sources. */
function AnswerText({ text, calls, citations }: ShownText) {
  const { sources, marked } = markSources(text, citations);
  return (
    <>
      {calls.map((call) => (
        <ToolCard key={call.id} call={call} />
      ))}
      {marked && <Markdown text={marked} mark={markOf(sources)} />}
      {sources.length > 0 && (
        <ol className="sources" aria-label="Sources">
          {sources.map((source) => (
            <li key={`${source.url} ${source.title}`}>
              <SourceLink source={source}>{source.title}</SourceLink>
            </li>
          ))}
        </ol>
      )}
    </>
  );
}

const POLL_MS = 2_000;

/** The approvals that the answer waits for. Polled, because the change stream names threads only for builders and above. */
function Waiting({ id }: { id: string | undefined }) {
  const trace = useQuery({ ...getTrace(id ?? ""), enabled: id !== undefined, refetchInterval: POLL_MS });
  return <PendingApprovals trace={trace.data} />;
}

/** `isOver`: no more text follows, because the answer failed or is no longer followed. */
function LiveText({ id, isOver, text, ...rest }: ShownText & { id: string | undefined; isOver: boolean }) {
  // long answers are rendered as often as the browser can
  const shown = useDeferredValue(text);
  const isUsingTools = rest.calls.some(({ status }) => status === "running");
  return (
    <>
      <AnswerText text={shown} {...rest} />
      {text === "" && !isOver && (
        <p className="quiet" role="status">
          {isUsingTools ? "Using tools…" : "Thinking…"}
        </p>
      )}
      {isUsingTools && !isOver && <Waiting id={id} />}
    </>
  );
}

interface Props {
  turn: Turn;
  isRunning: boolean;
  isRecent: boolean;
  onAgain: (() => void) | undefined;
  /** The target of a fork; undefined if no fork is possible. */
  forkWith: string | undefined;
}

const ENDS = {
  failed: "The answer failed.",
  stopped: "The answer was stopped.",
  completed: undefined,
  running: undefined,
};

const AnswerError = ({ text }: { text: string }) => (
  <p className="notice bad">
    <ServiceMessage text={text} />
  </p>
);

/** The tokens and the duration of an answer. */
const Spent = ({ trace: { usage, duration_ms } }: { trace: Trace }) => (
  <p className="quiet">
    {formatCount(usage.prompt_tokens + usage.completion_tokens, "token")}
    {duration_ms !== null && `, ${formatDuration(duration_ms)}`}
  </p>
);

/** A stored answer. Its tools and sources are loaded with it, in long threads only on request. */
function StoredAnswer({
  id,
  turn,
  isRunning,
  isRecent,
}: Pick<Props, "turn" | "isRunning" | "isRecent"> & { id: string }) {
  const [isOpen, setOpen] = useState(false);
  const trace = useQuery({ ...getTrace(id), enabled: !isRunning && (isRecent || isOpen) });
  const status = trace.data?.status;
  const text = turn.answer?.text ?? "";
  return (
    <>
      <AnswerText
        text={text}
        calls={trace.data?.rounds.flatMap(({ calls }) => calls) ?? []}
        citations={trace.data?.answer?.citations ?? []}
      />
      {isRunning && (
        <>
          <p className="quiet" role="status">
            The answer is being written…
          </p>
          <Waiting id={id} />
        </>
      )}
      {trace.data?.answer?.error && <AnswerError text={trace.data.answer.error} />}
      {!isRunning && status && ENDS[status] && <p className="quiet">{ENDS[status]}</p>}
      {!isRunning && trace.data && <Spent trace={trace.data} />}
      {!isRunning && text === "" && status === "completed" && <p className="quiet">The answer is empty.</p>}
      {trace.isError && !trace.data && <ErrorNotice error={trace.error} onRetry={() => void trace.refetch()} />}
      {!isRunning && !trace.data && !isRecent && !trace.isError && (
        <button type="button" className="button small" onClick={() => setOpen(true)}>
          Show tools and sources
        </button>
      )}
    </>
  );
}

/** The answer to a question, and the actions on it. */
export function Answer({ turn, isRunning, isRecent, onAgain, forkWith }: Props) {
  const { live, id } = turn;
  const isLive = live !== undefined && live.failure === undefined;
  return (
    <div className="answer" aria-busy={isLive}>
      <h2 className="hidden-text">Answer</h2>
      {live && !turn.answer ? (
        <LiveText id={live.answer.turn_id} isOver={!isLive || live.answer.error !== undefined} {...live.answer} />
      ) : id ? (
        <StoredAnswer id={id} turn={turn} isRunning={isRunning} isRecent={isRecent} />
      ) : (
        <AnswerText text={turn.answer?.text ?? ""} calls={[]} citations={[]} />
      )}
      {live?.answer.error && <AnswerError text={live.answer.error} />}
      {live?.failure !== undefined && <ErrorNotice error={live.failure} />}
      <p className="actions">
        {isLive && (
          <button type="button" className="button small" onClick={live.stop}>
            Stop
          </button>
        )}
        {!isLive && onAgain && (
          <button type="button" className="button small" onClick={onAgain}>
            Ask again
          </button>
        )}
        {!isLive && !isRunning && id && forkWith && (
          <Link className="button small" to="/chat" search={{ fork: id, with: forkWith }}>
            Fork from here
          </Link>
        )}
        {!isLive && id && (
          <Link className="button small" to="/requests/$turnId" params={{ turnId: id }}>
            Why this answer?
          </Link>
        )}
      </p>
    </div>
  );
}
