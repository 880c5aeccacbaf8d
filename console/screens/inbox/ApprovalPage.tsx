import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { attachmentAddress } from "../../api/approvalPeople.ts";
import { call } from "../../api/call.ts";
import { getApproval } from "../../api/queries.ts";
import type { Approval } from "../../api/types.ts";
import { ErrorNotice } from "../../parts/Notices.tsx";
import { PlainFields } from "../../parts/PlainFields.tsx";
import { Status } from "../../parts/Status.tsx";
import { ThingScreen } from "../../parts/ThingScreen.tsx";
import { Time } from "../../parts/Time.tsx";
import { ApprovalBody } from "../../parts/ApprovalBody.tsx";
import { RunAfterDecision } from "./RunAfterDecision.tsx";
import { Attachments } from "./Attachments.tsx";
import { DecisionForm, type Decision } from "./DecisionForm.tsx";
import { Comments } from "./Comments.tsx";
import { Delegate, Delegations } from "./Delegate.tsx";
import { displayName } from "./displayName.ts";
import { ShareLink } from "./ShareLink.tsx";
import { OriginLink, OriginRun, OriginToolCall } from "./ApprovalOrigin.tsx";
import { WhoDecides } from "./WhoDecides.tsx";
import "./inbox.css";

const route = getRouteApi("/inbox/$approvalId");

const OUTCOMES: Record<Exclude<Approval["status"], "pending">, string> = {
  approved: "Approved",
  rejected: "Rejected",
  expired: "Expired without a decision",
  cancelled: "Cancelled together with what asked",
};

/** The decision, its author and its time. */
function Outcome({ approval }: { approval: Approval }) {
  if (approval.status === "pending") return null;
  const { decided_by, decided_in_place_of, decided_at, comment, data } = approval;
  return (
    <div className={`notice ${approval.status === "approved" ? "good" : "plain"}`} role="status">
      <p>
        <strong>{OUTCOMES[approval.status]}</strong>
        {decided_by && <> by {displayName(decided_by)}</>}
        {decided_in_place_of && <> for {displayName(decided_in_place_of)}</>}
        {decided_at && (
          <>
            {" "}
            <Time at={decided_at} />
          </>
        )}
        .
      </p>
      {comment && <p>“{comment}”</p>}
      <Attachments files={approval.files} addressOf={attachmentAddress(approval.id)} />
      {data !== null && data !== undefined && (
        <PlainFields label="What was entered" value={data} schema={approval.form} />
      )}
    </div>
  );
}

/** The votes so far, if several are required. */
function Votes({ approval: { id, required, votes } }: { approval: Approval }) {
  if (required === 1) return null;
  return (
    <section aria-label="Votes">
      <p className="quiet">{required} equal votes decide.</p>
      <ul className="plain">
        {votes.map(({ by, in_place_of, decision, comment, files, at }) => (
          <li key={by.id}>
            {displayName(by)}
            {in_place_of && <> for {displayName(in_place_of)}</>} {decision === "approve" ? "approved" : "rejected"}{" "}
            <Time at={at} />
            {comment && <> “{comment}”</>}
            <Attachments files={files} addressOf={attachmentAddress(id)} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Question({ approval }: { approval: Approval }) {
  const queries = useQueryClient();
  const decide = useMutation({
    mutationFn: (decision: Decision) =>
      call<Approval>(`workflows/approvals/${approval.id}/decision`, { method: "POST", body: decision }),
    onSuccess: (decided) => queries.setQueryData(getApproval(approval.id).queryKey, decided),
    // also after a failure, because another person may have decided a moment ago
    onSettled: () => queries.invalidateQueries({ queryKey: ["run"] }),
  });
  return (
    <article className="card approval">
      <header>
        <h1>{approval.title}</h1>
        <p className="quiet">
          <Status status={approval.status} /> asked <Time at={approval.created_at} />
          {approval.in_place_of && <>, for {displayName(approval.in_place_of)}</>}
          {approval.status === "pending" && (
            <>
              , expires <Time at={approval.expires_at} />
            </>
          )}
        </p>
      </header>
      <ApprovalBody body={approval.body} />
      <Attachments files={approval.attachments} addressOf={attachmentAddress(approval.id)} />
      {approval.run_id !== null && <OriginRun id={approval.run_id} />}
      {approval.tool_call && <OriginToolCall call={approval.tool_call} />}
      {decide.isError && !approval.may_decide && <ErrorNotice error={decide.error} />}
      <Delegations approval={approval} />
      <Votes approval={approval} />
      <Outcome approval={approval} />
      {approval.status !== "pending" && approval.run_id !== null && <RunAfterDecision runId={approval.run_id} />}
      {approval.status === "pending" && !approval.may_decide && <WhoDecides approval={approval} />}
      {approval.may_decide && (
        <DecisionForm
          id={approval.id}
          schema={approval.form}
          takesFiles={approval.run_id !== null}
          isPending={decide.isPending}
          error={decide.error}
          onDecide={(decision) => decide.mutate(decision)}
        />
      )}
      {approval.run_id !== null && <Comments approval={approval} />}
      {approval.may_decide && approval.run_id !== null && approval.in_place_of === null && (
        <>
          <Delegate approval={approval} />
          <ShareLink approval={approval.id} />
        </>
      )}
      <OriginLink approval={approval} />
    </article>
  );
}

/** The page of one approval. Opening it never decides. */
export function ApprovalPage() {
  const { approvalId } = route.useParams();
  const approval = useQuery(getApproval(approvalId));
  return (
    <ThingScreen back={<Link to="/inbox">← Inbox</Link>} query={approval} kind="Approval" narrow>
      {(data) => <Question key={data.id} approval={data} />}
    </ThingScreen>
  );
}
