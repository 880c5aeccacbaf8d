import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { countNewRequests, listRequests, MAX_COUNTED_REQUESTS } from "../../api/requests.ts";
import type { Slice, TurnSummary } from "../../api/types.ts";
import { useRole } from "../../api/useRole.ts";
import { formatCost, formatDuration, formatNumber, shortId } from "../../format/index.ts";
import { PrincipalLink } from "../../parts/ActorLink.tsx";
import { ModelName } from "../../parts/ModelName.tsx";
import { NewRows } from "../../parts/NewRows.tsx";
import { EmptyState, QueryResult, NoMatch } from "../../parts/Notices.tsx";
import { PastEnd } from "../../parts/Pagination.tsx";
import { PrivacyLinks } from "../../parts/PrivacyLinks.tsx";
import { Status } from "../../parts/Status.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { Time } from "../../parts/Time.tsx";
import { useFormerNames } from "../../parts/useFormerNames.ts";
import { useMedia } from "../../parts/useMedia.ts";
import { useSnapshotTime } from "../../parts/useSnapshotTime.ts";
import { Filters } from "./Filters.tsx";
import { RequestPreview } from "./RequestPreview.tsx";
import { toFilter, type RequestSearch } from "./filter.ts";
import "./requests.css";

const route = getRouteApi("/requests");

function Asker({ turn: { principal, principal_name: name } }: { turn: TurnSummary }) {
  const [kind = "", id = ""] = principal.split(":", 2);
  const former = useFormerNames(name === null && kind === "person");
  return (
    <Link to="/requests" search={{ who: principal }} title={principal}>
      {name ?? former.get(id) ?? `a ${kind} that is no longer here (${shortId(id)})`}
    </Link>
  );
}

/** Wide enough for a request beside the list. On smaller screens it has the whole screen. */
const WIDE = "(min-width: 1100px)";

/** Why a refused request has no link, and where to find its data. */
function Refused({ turn: { thread_id } }: { turn: TurnSummary }) {
  const { isAdmin } = useRole();
  return (
    <span className="quiet block">
      Nothing of it is kept; the answer told its caller why.
      {isAdmin && (
        <>
          {" "}
          <Link to="/log" search={{ stream: `thread-${thread_id}` }}>
            Its log
          </Link>
        </>
      )}
    </span>
  );
}

/** A refused request left no trace to open. */
const Question = ({ turn }: { turn: TurnSummary }) => {
  const search = route.useSearch();
  const isWide = useMedia(WIDE);
  const text = (
    <>
      <span className="clipped">
        {turn.question || (turn.status === "refused" ? "A request that was refused" : "(no text)")}
      </span>
      <span className="mono quiet">{shortId(turn.id)}</span>
    </>
  );
  if (turn.status === "refused") return text;
  return isWide ? (
    <Link
      to="/requests"
      search={{ ...search, peek: turn.id }}
      resetScroll={false}
      aria-current={search.peek === turn.id ? "true" : undefined}
      data-row
    >
      {text}
    </Link>
  ) : (
    <Link to="/requests/$turnId" params={{ turnId: turn.id }} data-row>
      {text}
    </Link>
  );
};

const COLUMNS: Columns<TurnSummary> = [
  {
    title: "Question",
    className: "question",
    cell: (turn) => (
      <>
        <Question turn={turn} />
        {turn.status === "refused" && <Refused turn={turn} />}
        {turn.error && <span className="bad-text clipped">{turn.error}</span>}
      </>
    ),
  },
  { title: "Status", cell: ({ status }) => <Status status={status} /> },
  { title: "Started", cell: ({ started_at }) => <Time at={started_at} /> },
  {
    title: "Asked by",
    cell: (turn) => (turn.principal === "system" ? "the service" : <Asker turn={turn} />),
  },
  {
    title: "Agent or model",
    cell: ({ agent, model }) => (
      <>
        {agent ? (agent.name ?? "deleted agent") : <ModelName name={model} />}
        {agent && (
          <span className="quiet block">
            <ModelName name={model} />
          </span>
        )}
      </>
    ),
  },
  {
    title: "Took",
    number: true,
    cell: ({ duration_ms }) => duration_ms !== null && formatDuration(duration_ms),
  },
  {
    title: "Tokens",
    number: true,
    cell: ({ usage }) => usage && formatNumber(usage.prompt_tokens + usage.completion_tokens),
  },
  { title: "Cost", number: true, cell: ({ usage }) => usage?.cost && formatCost(usage.cost) },
];

function NoRequests({ search, next }: { search: RequestSearch; next: string | null }) {
  if (next)
    return (
      <EmptyState title="No match so far">
        <p>None of the newest requests matches the filters. Older ones may.</p>
      </EmptyState>
    );
  const { after, peek: _, ...filters } = search;
  if (after !== undefined)
    return <PastEnd what="requests" first={{ to: "/requests", search: { ...search, after: undefined } }} />;
  return <NoneAtAll isFiltered={Object.values(filters).some((value) => value !== undefined)} />;
}

/** Only builders see the requests of others. */
function NoneAtAll({ isFiltered }: { isFiltered: boolean }) {
  const { isBuilder, mayWrite } = useRole();
  const isOwnOnly = !isBuilder && (
    <p>You see your own requests. Owners, administrators and builders see those of everybody.</p>
  );
  if (!isFiltered && !mayWrite) return <EmptyState title="You have asked nothing">{isOwnOnly}</EmptyState>;
  return isFiltered ? (
    <NoMatch what="request">
      <Link to="/requests">all requests</Link>
    </NoMatch>
  ) : (
    <EmptyState title="Nothing has been asked yet">
      <ol>
        <li>
          Ask under <Link to="/chat">Chat</Link>, or
        </li>
        <li>
          from a program: <code>POST /api/openai/v1/chat/completions</code> asks a model,{" "}
          <code>POST /api/agents/&lt;id&gt;/v1/responses</code> an agent.
        </li>
        <li>Come back: every request appears here at once, with its prompt, its tools and its answer.</li>
      </ol>
      {isOwnOnly}
    </EmptyState>
  );
}

const Pages = ({ search, next }: { search: RequestSearch; next: string | null }) => (
  <nav aria-label="Pages" className="title-line">
    {search.after !== undefined && (
      <Link className="button" to="/requests" search={{ ...search, after: undefined }}>
        Newest
      </Link>
    )}
    {next && (
      <Link className="button" to="/requests" search={{ ...search, after: next }}>
        Older
      </Link>
    )}
  </nav>
);

function NewRequests({ search, since, onShow }: { search: RequestSearch; since: string; onShow: () => void }) {
  const { from: _, to: __, ...filter } = toFilter(search, since);
  const { data: count = 0 } = useQuery(countNewRequests(filter, since));
  return <NewRows count={count} what="request" most={MAX_COUNTED_REQUESTS} onShow={onShow} />;
}

/** Beside a request there is only room for the columns that distinguish requests. */
const NARROW = COLUMNS.slice(0, 2);

function Result({ page, search }: { page: Slice<TurnSummary>; search: RequestSearch }) {
  const columns = search.peek === undefined ? COLUMNS : NARROW;
  return (
    <>
      {page.data.length === 0 ? (
        <NoRequests search={search} next={page.next_after} />
      ) : (
        <Table caption="Requests, newest first" columns={columns} rows={page.data} rowKey={({ id }) => id} />
      )}
      {(search.after !== undefined || page.has_more) && <Pages search={search} next={page.next_after} />}
    </>
  );
}

/** Every request to a model, newest first. */
export function Requests() {
  const search = route.useSearch();
  const [until, renew] = useSnapshotTime();
  const requests = useQuery(listRequests(toFilter(search, until), search.after));
  const { peek } = search;
  const isWide = useMedia(WIDE);
  return (
    <section className={peek ? "screen broad" : "screen"} aria-labelledby="title">
      <h1 id="title">Requests</h1>
      <Filters search={search} />
      {search.who?.includes(":") && (
        <p>
          Asked by <PrincipalLink principal={search.who} />
          <PrivacyLinks subject={search.who} />
        </p>
      )}
      {search.after === undefined && search.to === undefined && (
        <NewRequests search={search} since={until} onShow={renew} />
      )}
      <div className={peek ? "with-peek" : "stack"}>
        {(isWide || !peek) && (
          <div className="stack">
            <QueryResult query={requests} what="requests">
              {(page) => <Result page={page} search={search} />}
            </QueryResult>
          </div>
        )}
        {peek && <RequestPreview key={peek} id={peek} search={search} />}
      </div>
    </section>
  );
}
