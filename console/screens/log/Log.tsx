import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { countNewEvents, listEvents, MAX_COUNTED, type LogEvent } from "../../api/events.ts";
import type { Slice } from "../../api/types.ts";
import { NewRows } from "../../parts/NewRows.tsx";
import { Empty, Loaded } from "../../parts/Notices.tsx";
import { EventRow } from "./EventRow.tsx";
import { Filters } from "./Filters.tsx";
import type { LogSearch } from "./search.ts";
import "./log.css";

const route = getRouteApi("/log");

/** New events, unless the person follows. */
function NewEvents({ search, newest, onShow }: { search: LogSearch; newest: string | undefined; onShow: () => void }) {
  const { data: count = 0 } = useQuery(countNewEvents(search, newest));
  return <NewRows count={count} what="event" most={MAX_COUNTED} onShow={onShow} />;
}

const NoEvents = ({ search }: { search: LogSearch }) => (
  <Empty title="No event matches">
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
  </Empty>
);

function Events({ page, search }: { page: Slice<LogEvent>; search: LogSearch }) {
  const { event: _, ...rest } = search;
  if (page.data.length === 0) return <NoEvents search={rest} />;
  return (
    <>
      <section className="card timeline" aria-label="Events, newest first">
        <ol className="plain">
          {page.data.map((event) => (
            <EventRow key={event.cursor} event={event} search={search} />
          ))}
        </ol>
      </section>
      <nav aria-label="Pages" className="title-line">
        {search.after !== undefined && (
          <Link className="button" to="/log" search={{ ...rest, after: undefined }}>
            Newest
          </Link>
        )}
        {page.has_more && page.next_after !== null && (
          <Link className="button" to="/log" search={{ ...rest, follow: undefined, after: page.next_after }}>
            Older
          </Link>
        )}
      </nav>
    </>
  );
}

/** What happened in the organization, newest first. */
export function Log() {
  const search = route.useSearch();
  const queries = useQueryClient();
  const { after, follow = false } = search;
  const events = useQuery(listEvents(search, after, follow));
  return (
    <section className="screen" aria-labelledby="title">
      <h1 id="title">Log</h1>
      <Filters search={search} />
      <Loaded query={events} what="events">
        {(page) => (
          <>
            {!follow && after === undefined && (
              <NewEvents
                search={search}
                newest={page.data[0]?.cursor}
                onShow={() => void queries.invalidateQueries({ queryKey: ["events"] })}
              />
            )}
            <Events page={page} search={search} />
          </>
        )}
      </Loaded>
    </section>
  );
}
