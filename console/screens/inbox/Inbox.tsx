import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { APPROVALS_PER_PAGE, listApprovals } from "../../api/queries.ts";
import { APPROVAL_ORDERS, APPROVAL_STATUSES, type Approval, type ApprovalOrder, type Page } from "../../api/types.ts";
import { readChoice } from "../../app/search.ts";
import { formatCount } from "../../format/index.ts";
import { statusWord } from "../../format/statusWord.ts";
import { labelledChoices } from "../../parts/Choices.tsx";
import { SelectFilter } from "../../parts/Filter.tsx";
import { EmptyState, QueryResult } from "../../parts/Notices.tsx";
import { Pagination } from "../../parts/Pagination.tsx";
import { Status } from "../../parts/Status.tsx";
import { Tab, Tabs } from "../../parts/Tabs.tsx";
import { Time } from "../../parts/Time.tsx";
import { useFilterNavigate } from "../../parts/useFilterNavigate.ts";
import { PrincipalFilter } from "../../parts/PrincipalFilter.tsx";
import { MySubstitute } from "./MySubstitute.tsx";
import { displayName } from "./displayName.ts";
import { isOver, type InboxSearch } from "./search.ts";
import "./inbox.css";

const route = getRouteApi("/inbox");

const Item = ({ approval }: { approval: Approval }) => (
  <li>
    <Link className="card row" to="/inbox/$approvalId" params={{ approvalId: approval.id }} data-row>
      <span className="row-title">{approval.title}</span>
      <Status status={approval.status} />
      <span className="quiet">
        {approval.in_place_of && <strong>for {displayName(approval.in_place_of)}, </strong>}
        {approval.tool_call && <>{approval.tool_call.agent.name ?? "a deleted agent"}, </>}
        asked <Time at={approval.created_at} />
        {approval.decided_by && (
          <>
            , decided by {displayName(approval.decided_by)}
            {approval.decided_at && (
              <>
                {" "}
                <Time at={approval.decided_at} />
              </>
            )}
            {approval.comment && <>: “{approval.comment}”</>}
          </>
        )}
        {approval.status === "pending" && (
          <>
            , expires <Time at={approval.expires_at} />
            {approval.reminded_at && (
              <>
                , reminded <Time at={approval.reminded_at} />
              </>
            )}
            {approval.escalated_at && (
              <>
                , escalated <Time at={approval.escalated_at} />
              </>
            )}
            {approval.delegations.length > 0 && <>, delegated by {displayName(approval.delegations.at(-1)!.by)}</>}
            {approval.comment_count > 0 && <>, {formatCount(approval.comment_count, "comment")}</>}
          </>
        )}
      </span>
    </Link>
  </li>
);

const NothingHere = ({ search }: { search: InboxSearch }) =>
  !isOver(search) ? (
    <EmptyState title="Nothing waits for you">
      <p>When a workflow or an agent asks for an approval that you may give, it appears here at once.</p>
      <ul>
        <li>
          See what was{" "}
          <Link to="/inbox" search={{ status: "approved" }}>
            approved
          </Link>{" "}
          or{" "}
          <Link to="/inbox" search={{ status: "rejected" }}>
            rejected
          </Link>
          .
        </li>
        <li>
          See which{" "}
          <Link to="/runs" search={{ status: "running" }}>
            runs
          </Link>{" "}
          are under way.
        </li>
      </ul>
    </EmptyState>
  ) : (
    <EmptyState
      title={
        search.by
          ? "Nothing was decided by them"
          : `No approval that you may decide is ${statusWord(search.status ?? "")}`
      }
    >
      <p>
        Choose who decided above, or go back to <Link to="/inbox">what waits for you</Link>.
      </p>
    </EmptyState>
  );

function Items({ found: { data, total }, search }: { found: Page<Approval>; search: InboxSearch }) {
  const { page = 0 } = search;
  if (data.length === 0 && page === 0) return <NothingHere search={search} />;
  return (
    <>
      {data.length > 0 && (
        <ul className="plain stack">
          {data.map((approval) => (
            <Item key={approval.id} approval={approval} />
          ))}
        </ul>
      )}
      <Pagination
        page={page}
        perPage={APPROVALS_PER_PAGE}
        total={total}
        what="approval"
        address={(to) => ({ to: "/inbox", search: { ...search, page: to } })}
      />
    </>
  );
}

const ORDERS: Record<ApprovalOrder, string> = {
  oldest: "oldest first",
  newest: "newest first",
  urgent: "reminders first",
};
/** Pending approvals are listed oldest first, decided ones newest first. */
const usualOrder = (search: InboxSearch): ApprovalOrder => (isOver(search) ? "newest" : "oldest");

interface FilterProps {
  search: InboxSearch;
  order: ApprovalOrder;
  /** Whether the list has enough items to sort. */
  hasOrder: boolean;
}

function Filters({ search, order, hasOrder }: FilterProps) {
  const navigate = useFilterNavigate();
  const change = (part: InboxSearch) =>
    void navigate({ to: "/inbox", replace: true, search: { ...search, page: undefined, ...part } });
  const changeOrder = (value?: string) => {
    const picked = readChoice(value, APPROVAL_ORDERS);
    change({ order: picked === usualOrder(search) ? undefined : picked });
  };
  const isDecided = isOver(search);
  if (!hasOrder && !isDecided) return null;
  return (
    <search className="filters">
      {hasOrder && (
        <SelectFilter
          label="Order"
          isFirst
          isRequired
          value={order}
          choices={labelledChoices(ORDERS)}
          onPick={changeOrder}
        />
      )}
      {isDecided && <PrincipalFilter label="Decided by" value={search.by} onPick={(by) => change({ by })} />}
    </search>
  );
}

/** The filters for one person's decisions. */
const DECIDED = ["all", "approved", "rejected"] as const;

/** Pending and decided approvals. */
export function Inbox() {
  const search = route.useSearch();
  const { by, order = usualOrder(search), page = 0 } = search;
  const status = search.status ?? (by ? "all" : "pending");
  const approvals = useQuery(listApprovals(status === "all" ? undefined : status, { order, by, page }));
  return (
    <section className="screen narrow" aria-labelledby="title">
      <h1 id="title">Inbox</h1>
      {!isOver(search) && !approvals.isLoadingError && <MySubstitute />}
      <Tabs
        label="Status"
        names={by ? [...DECIDED, "pending"] : APPROVAL_STATUSES}
        current={status}
        title={statusWord}
        tab={(name, rest) => (
          <Tab
            {...rest}
            to="/inbox"
            search={name === "pending" ? {} : { by, status: name === "all" ? undefined : name }}
          />
        )}
      />
      <Filters search={search} order={order} hasOrder={(approvals.data?.total ?? 0) > 1} />
      <QueryResult query={approvals} what="approvals">
        {(found) => <Items found={found} search={search} />}
      </QueryResult>
    </section>
  );
}
