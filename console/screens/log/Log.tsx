import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback, useEffect, useState } from "react";
import {
  countNewEvents,
  exportAddress,
  listEvents,
  MAX_COUNTED_EVENTS,
  EVENTS_PER_PAGE,
  type LogEvent,
} from "../../api/events.ts";
import type { Slice } from "../../api/types.ts";
import { VirtualRows } from "../../parts/VirtualRows.tsx";
import { NewRows } from "../../parts/NewRows.tsx";
import { EmptyState, QueryResult } from "../../parts/Notices.tsx";
import { ForAdministrators } from "../../parts/ForRole.tsx";
import { useSnapshotTime } from "../../parts/useSnapshotTime.ts";
import { ChainPanel } from "./ChainPanel.tsx";
import { EventRow } from "./EventRow.tsx";
import { Filters } from "./Filters.tsx";
import { Histogram } from "./Histogram.tsx";
import type { LogSearch } from "./search.ts";
import "./log.css";

const ROW_HEIGHT = 45;
const route = getRouteApi("/log");

/** Shows the number of new events, unless the person follows the log. */
function NewEvents({ search, newest, onShow }: { search: LogSearch; newest: string | undefined; onShow: () => void }) {
  const { data: count = 0 } = useQuery(countNewEvents(search, newest));
  return <NewRows count={count} what="event" most={MAX_COUNTED_EVENTS} onShow={onShow} />;
}

const NoEvents = ({ search }: { search: LogSearch }) => (
  <EmptyState title="No event matches">
    <ul>
      {search.after !== undefined && (
        <li>
          Go to{" "}
          <Link to="/log" search={{ ...search, after: undefined }}>
            the newest events
          </Link>
          .
        </li>
      )}
      <li>
        See <Link to="/log">all events</Link>.
      </li>
      <li>A stream is named like run-0198c0de-…: the kind of thing, then its id.</li>
    </ul>
  </EmptyState>
);

interface PageProps {
  search: LogSearch;
  after: string | undefined;
  /** The time at which the list is frozen; undefined while the person follows the log. */
  until: string | undefined;
  onNext(after: string): void;
}

/** The rows of one page. Once they are loaded, reports the cursor of the next page. */
function EventPage({ search, after, until, onNext }: PageProps) {
  const page = useQuery(listEvents(search, after, until));
  const next = page.data?.has_more ? page.data.next_after : null;
  useEffect(() => {
    if (next !== null) onNext(next);
  }, [next, onNext]);
  if (page.data) return page.data.data.map((event) => <EventRow key={event.cursor} event={event} search={search} />);
  return (
    <li>
      <QueryResult query={page} what="older events">
        {() => null}
      </QueryResult>
    </li>
  );
}

/** The newest events, or those before a cursor, and older ones as the person scrolls. */
function Events({ page, search, until }: Pick<PageProps, "search" | "until"> & { page: Slice<LogEvent> }) {
  const { after, follow = false } = search;
  const [older, setOlder] = useState<readonly string[]>([]);
  // following shows only the newest page, because moving rows would break later pages
  const pages = [after, ...(follow ? [] : older)];
  const addPage = useCallback(
    (cursor: string) => setOlder((known) => (known.includes(cursor) ? known : [...known, cursor])),
    [],
  );
  if (page.data.length === 0) return <NoEvents search={search} />;
  return (
    <>
      <section className="card timeline" aria-label="Events, newest first">
        {pages.map((cursor, n) => (
          <VirtualRows
            key={cursor ?? ""}
            as="ol"
            n={n}
            height={EVENTS_PER_PAGE * ROW_HEIGHT}
            rows={() => <EventPage search={search} after={cursor} until={n === 0 ? until : ""} onNext={addPage} />}
          />
        ))}
      </section>
      {after !== undefined && (
        <Link className="button" to="/log" search={{ ...search, after: undefined, event: undefined }}>
          Newest
        </Link>
      )}
    </>
  );
}

function EventLog() {
  const search = route.useSearch();
  const { after, follow = false, stream, type, who, command, verify } = search;
  const [time, renew] = useSnapshotTime();
  const until = follow ? undefined : time;
  const events = useQuery(listEvents(search, after, until));
  return (
    <section className="screen" aria-labelledby="title">
      <header className="title-line">
        <h1 id="title">Log</h1>
        <Link className="button" to="/log" search={{ ...search, verify: "all" }}>
          Verify the chain
        </Link>
        <a className="button" href={exportAddress(search)} title="A file of JSON lines" download>
          Export
        </a>
      </header>
      <Filters search={search} />
      {verify && <ChainPanel key={verify} search={search} />}
      <QueryResult query={events} what="events">
        {(page) => (
          <>
            <Histogram search={search} />
            {!follow && after === undefined && (
              <NewEvents search={search} newest={page.data[0]?.cursor} onShow={renew} />
            )}
            <Events
              key={[stream, type, who, command, after, until].join(" ")}
              page={page}
              search={search}
              until={until}
            />
          </>
        )}
      </QueryResult>
    </section>
  );
}

/** The organization's events, newest first. */
export const Log = () => (
  <ForAdministrators what="Log">
    <EventLog />
  </ForAdministrators>
);
