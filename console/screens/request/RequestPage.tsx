import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { getTrace } from "../../api/requests.ts";
import type { Trace } from "../../api/trace.ts";
import { QueryResult } from "../../parts/Notices.tsx";
import { ThingScreen } from "../../parts/ThingScreen.tsx";
import { TraceDetails } from "./TraceDetails.tsx";

const route = getRouteApi("/requests/$turnId");

/** A notice that this is not the newest state, with links to the neighbouring states. */
function AsOf({ newest, asOf }: { newest: Trace; asOf: string }) {
  const at = newest.events.findIndex(({ cursor }) => cursor === asOf);
  const to = (n: number, label: string) => {
    const cursor = newest.events[n]?.cursor;
    if (!cursor) return null;
    const isLast = n === newest.events.length - 1;
    return (
      <Link
        className="button small"
        to="/requests/$turnId"
        params={{ turnId: newest.id }}
        search={{ as_of: isLast ? undefined : cursor }}
        resetScroll={false}
      >
        {label}
      </Link>
    );
  };
  return (
    <div className="notice warn" role="status">
      <p>
        As it was after{" "}
        {at < 0 ? "an event" : `event ${at + 1} of ${newest.events.length} (${newest.events[at]?.type})`}.
      </p>
      <p className="buttons">
        {at >= 0 && to(at - 1, "Event before")}
        {at >= 0 && to(at + 1, "Event after")}
        {at < newest.events.length - 2 && to(newest.events.length - 1, "Now")}
      </p>
    </div>
  );
}

/** The request as of an event. While its trace is loaded for the first time, the newest trace is shown. */
function Shown({ newest }: { newest: Trace }) {
  const { line, as_of: asOf, prompt } = route.useSearch();
  const then = useQuery({ ...getTrace(newest.id, asOf), enabled: asOf !== undefined });
  // the newest state must not pass for an earlier one that could not be read, not even while it is read again
  const isUnknown = asOf !== undefined && then.isFetched && !then.data;
  return (
    <>
      <h1>Request</h1>
      {asOf !== undefined && <AsOf newest={newest} asOf={asOf} />}
      {isUnknown ? (
        <QueryResult query={then} what="the request">
          {() => null}
        </QueryResult>
      ) : (
        <TraceDetails
          trace={(asOf === undefined ? undefined : then.data) ?? newest}
          newest={newest}
          asOf={asOf}
          line={line}
          prompt={prompt}
        />
      )}
    </>
  );
}

/** One request: a timeline, the exact prompt, the answer, and the events. */
export function RequestPage() {
  const { turnId } = route.useParams();
  const trace = useQuery(getTrace(turnId));
  return (
    <ThingScreen back={<Link to="/requests">← Requests</Link>} query={trace} kind="Request">
      {(data) => <Shown newest={data} />}
    </ThingScreen>
  );
}
