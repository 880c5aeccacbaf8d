import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { listApprovals } from "../../api/queries.ts";
import {
  APPROVAL_ORDERS,
  APPROVAL_STATUSES,
  type Approval,
  type ApprovalOrder,
  type ApprovalStatus,
  type Page,
} from "../../api/types.ts";
import { readChoice } from "../../app/search.ts";
import { formatCount } from "../../format/index.ts";
import { labelledChoices } from "../../parts/Choices.tsx";
import { SelectFilter } from "../../parts/Filter.tsx";
import { Empty, Loaded } from "../../parts/Notices.tsx";
import { Status } from "../../parts/Status.tsx";
import { Tab, Tabs } from "../../parts/Tabs.tsx";
import { Time } from "../../parts/Time.tsx";
import { Away } from "./Away.tsx";
import { nameOf } from "./nameOf.ts";
import "./inbox.css";

const PAGE = 50;
const route = getRouteApi("/inbox");

const Item = ({ approval }: { approval: Approval }) => (
  <li>
    <Link className="card row" to="/inbox/$approvalId" params={{ approvalId: approval.id }} data-row>
      <span className="row-title">{approval.title}</span>
      <Status status={approval.status} />
      <span className="quiet">
        {approval.in_place_of && <strong>for {nameOf(approval.in_place_of)}, </strong>}
        {approval.tool_call && <>{approval.tool_call.agent.name ?? "a deleted agent"}, </>}
        asked <Time at={approval.created_at} />
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
            {approval.delegations.length > 0 && <>, delegated by {nameOf(approval.delegations.at(-1)!.by)}</>}
            {approval.comment_count > 0 && <>, {formatCount(approval.comment_count, "comment")}</>}
          </>
        )}
      </span>
    </Link>
  </li>
);

const NothingHere = ({ status }: { status: ApprovalStatus }) =>
  status === "pending" ? (
    <Empty title="Nothing waits for you">
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
    </Empty>
  ) : (
    <Empty title={`No approval is ${status}`}>
      <p>
        Go back to <Link to="/inbox">what waits for you</Link>.
      </p>
    </Empty>
  );

function Items({ page, onMore }: { page: Page<Approval>; onMore: () => void }) {
  return (
    <>
      <ul className="plain stack">
        {page.data.map((approval) => (
          <Item key={approval.id} approval={approval} />
        ))}
      </ul>
      {page.total > page.data.length && (
        <button type="button" className="button" onClick={onMore}>
          Show more of {formatCount(page.total, "approval")}
        </button>
      )}
    </>
  );
}

const ORDERS: Record<ApprovalOrder, string> = {
  oldest: "oldest first",
  newest: "newest first",
  urgent: "reminders first",
};
/** What waits longest comes first; of what is over, the newest. */
const usualOrder = (status: ApprovalStatus): ApprovalOrder => (status === "pending" ? "oldest" : "newest");

function Order({ status, order }: { status: ApprovalStatus; order: ApprovalOrder }) {
  const navigate = useNavigate();
  const change = (value?: string) => {
    const picked = readChoice(value, APPROVAL_ORDERS);
    void navigate({
      to: "/inbox",
      replace: true,
      search: {
        status: status === "pending" ? undefined : status,
        order: picked === usualOrder(status) ? undefined : picked,
      },
    });
  };
  return (
    <search className="filters">
      <SelectFilter label="Order" isFirst isRequired value={order} choices={labelledChoices(ORDERS)} onPick={change} />
    </search>
  );
}

/** What people are asked to decide. */
export function Inbox() {
  const { status = "pending", order = usualOrder(status) } = route.useSearch();
  const [limit, setLimit] = useState(PAGE);
  const approvals = useQuery(listApprovals(status, limit, order));
  return (
    <section className="screen narrow" aria-labelledby="title">
      <h1 id="title">Inbox</h1>
      <Away />
      <Tabs
        label="Status"
        names={APPROVAL_STATUSES}
        current={status}
        title={(name) => (name === "pending" ? "waiting" : name)}
        tab={(name, rest) => <Tab {...rest} to="/inbox" search={name === "pending" ? {} : { status: name }} />}
      />
      <Loaded query={approvals} what="approvals">
        {(page) =>
          page.data.length === 0 ? (
            <NothingHere status={status} />
          ) : (
            <>
              {page.total > 1 && <Order status={status} order={order} />}
              <Items page={page} onMore={() => setLimit(limit + PAGE)} />
            </>
          )
        }
      </Loaded>
    </section>
  );
}
