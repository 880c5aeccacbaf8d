import { Link } from "@tanstack/react-router";
import { Fragment } from "react";
import type { LogEvent } from "../../api/events.ts";
import { describeEvent } from "../../format/describeEvent.ts";
import { shortId } from "../../format/index.ts";
import { PrincipalLink, PrincipalName } from "../../parts/ActorLink.tsx";
import { FoundLink, nameOfKind, ThingLink } from "../../parts/ThingLink.tsx";
import { StepItem, StepLink } from "../../parts/StepLine.tsx";
import { Time } from "../../parts/Time.tsx";
import { ValueBlock } from "../../parts/ValueBlock.tsx";
import { findNamedThings } from "./findNamedThings.ts";
import type { LogSearch } from "./search.ts";

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** Aggregates with a screen besides their stream in the log. */
const WITH_SCREEN = new Set([
  "run",
  "thread",
  "document",
  "collection",
  "extraction",
  "key",
  "agent",
  "workflow",
  "definition",
]);

/** The screen of the item that an event is about, if there is one. */
function Thing({ event: { stream, data } }: { event: LogEvent }) {
  const [, aggregate = "", id = ""] = /^([a-z]+)-(.+)$/.exec(stream) ?? [];
  const turn = textOf(data["turn_id"]);
  const thing = turn ? { kind: "turn", id: turn } : { kind: aggregate, id };
  if (!turn && !WITH_SCREEN.has(aggregate)) return null;
  return <ThingLink thing={thing}>Open the {nameOfKind(thing.kind)}</ThingLink>;
}

/** The items that an event's fields name. */
const Named = ({ event }: { event: LogEvent }) =>
  findNamedThings(event.data).map(({ field, kind, id }) => (
    <Fragment key={field}>
      <dt>{field}</dt>
      <dd>
        <ThingLink thing={{ kind, id }}>
          <span className="mono">{id}</span>
        </ThingLink>
      </dd>
    </Fragment>
  ));

const Details = ({ event, search }: { event: LogEvent; search: LogSearch }) => (
  <>
    <dl className="facts">
      <dt>Caused by</dt>
      <dd>
        <PrincipalLink principal={event.principal} />
        {event.principal.includes(":") && search.who !== event.principal && (
          <>
            {" · "}
            <Link to="/log" search={{ who: event.principal }}>
              all that they did
            </Link>
          </>
        )}
      </dd>
      <dt>Stream</dt>
      <dd>
        <Link className="mono" to="/log" search={{ stream: event.stream }}>
          {event.stream}
        </Link>
        , event {event.version}
      </dd>
      <dt>Request</dt>
      <dd>
        <FoundLink id={event.request_id} />
      </dd>
      <dt>Command</dt>
      <dd>
        <Link className="mono" to="/log" search={{ command: event.command_id }}>
          {event.command_id}
        </Link>
        , with all events that it caused
      </dd>
      {event.trace_id && (
        <>
          <dt>Trace</dt>
          <dd>
            <FoundLink id={event.trace_id} />
          </dd>
        </>
      )}
      <Named event={event} />
    </dl>
    <ValueBlock label="Fields" value={event.data} />
    {event.personal && <ValueBlock label="Personal fields" value={event.personal} />}
    {event.erased && <p className="notice warn">Its personal fields have been deleted.</p>}
    <p>
      <Thing event={event} />{" "}
      <Link to="/log" search={{ ...search, verify: event.cursor }}>
        Verify the chain up to here
      </Link>
    </p>
  </>
);

/** The actor; for a session, its person. */
function whoseOf({ type, principal, data }: LogEvent): string {
  const user = textOf(data["user_id"]);
  return type === "SessionStarted" && user ? `person:${user}` : principal;
}

/** One sentence about an event and its actor; if opened, also every field. */
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
      <span className="sentence">
        {describeEvent(event)}{" "}
        <span className="quiet">
          <PrincipalName principal={whoseOf(event)} />
        </span>
      </span>
      <span className="mono quiet type">
        {event.type} {shortId(event.stream)}
      </span>
    </StepLink>
  );
  return <StepItem line={line}>{isOpen && <Details event={event} search={search} />}</StepItem>;
};
