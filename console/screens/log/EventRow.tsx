import { Link } from "@tanstack/react-router";
import type { LogEvent } from "../../api/events.ts";
import { describeEvent } from "../../format/describeEvent.ts";
import { shortId } from "../../format/index.ts";
import { ActorLink } from "../../parts/ActorLink.tsx";
import { StepItem, StepLink } from "../../parts/StepLine.tsx";
import { Time } from "../../parts/Time.tsx";
import { Value } from "../../parts/Value.tsx";
import type { LogSearch } from "./search.ts";

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** The screen of what an event is about, if there is one. */
function Thing({ event: { stream, data } }: { event: LogEvent }) {
  const [, kind = "", id = ""] = /^([a-z]+)-(.+)$/.exec(stream) ?? [];
  const turn = textOf(data["turn_id"]);
  if (turn)
    return (
      <Link to="/requests/$turnId" params={{ turnId: turn }}>
        Open the request
      </Link>
    );
  if (kind === "run")
    return (
      <Link to="/runs/$runId" params={{ runId: id }}>
        Open the run
      </Link>
    );
  if (kind === "document")
    return (
      <Link to="/knowledge/documents/$documentId" params={{ documentId: id }}>
        Open the document
      </Link>
    );
  if (kind === "key")
    return (
      <Link to="/keys/$keyId" params={{ keyId: id }}>
        Open the key
      </Link>
    );
  return null;
}

/** Who caused it, as the log writes it. */
function Principal({ name }: { name: string }) {
  const [kind = "", id] = name.split(":", 2);
  if (id === undefined || (kind !== "person" && kind !== "key")) return <span className="mono">{name}</span>;
  return <ActorLink actor={{ type: kind === "key" ? "api_key" : kind, id }} />;
}

const Details = ({ event, search }: { event: LogEvent; search: LogSearch }) => (
  <>
    <dl className="facts">
      <dt>Caused by</dt>
      <dd>
        <Principal name={event.principal} />
      </dd>
      <dt>Stream</dt>
      <dd>
        <Link className="mono" to="/log" search={{ stream: event.stream }}>
          {event.stream}
        </Link>
        , event {event.version}
      </dd>
      <dt>Request</dt>
      <dd className="mono">{event.request_id}</dd>
      <dt>Command</dt>
      <dd className="mono">{event.command_id}</dd>
      {event.trace_id && (
        <>
          <dt>Trace</dt>
          <dd className="mono">{event.trace_id}</dd>
        </>
      )}
    </dl>
    <Value label="Fields" value={event.data} />
    {event.personal && <Value label="Personal fields" value={event.personal} />}
    {event.erased && <p className="notice warn">Its personal fields have been deleted.</p>}
    <p>
      <Thing event={event} />{" "}
      <Link to="/log" search={{ ...search, verify: event.cursor }}>
        Verify the chain up to here
      </Link>
    </p>
  </>
);

/** What happened, in one sentence; opened, with every field. */
export const EventRow = ({ event, search }: { event: LogEvent; search: LogSearch }) => {
  const isOpen = search.event === event.cursor;
  const line = (
    <StepLink
      className="event"
      to="/log"
      search={{ ...search, event: isOpen ? undefined : event.cursor }}
      replace
      isOpen={isOpen}
    >
      <span className="quiet">
        <Time at={event.recorded_at} />
      </span>
      <span className="sentence">{describeEvent(event)}</span>
      <span className="mono quiet type">
        {event.type} {shortId(event.stream)}
      </span>
    </StepLink>
  );
  return <StepItem line={line}>{isOpen && <Details event={event} search={search} />}</StepItem>;
};
