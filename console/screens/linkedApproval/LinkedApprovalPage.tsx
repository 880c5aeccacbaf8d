import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import {
  decideByLink,
  getLinkedApproval,
  getLinkedAttachment,
  type LinkedApproval,
  type LinkSecret,
} from "../../api/approvalLinks.ts";
import type { Attachment } from "../../api/types.ts";
import { ErrorNotice, QueryResult } from "../../parts/Notices.tsx";
import { saveFile } from "../../parts/saveFile.ts";
import { Time } from "../../parts/Time.tsx";
import { ApprovalBody } from "../../parts/ApprovalBody.tsx";
import { Attachments } from "../inbox/Attachments.tsx";
import { DecisionForm, type Decision } from "../inbox/DecisionForm.tsx";
import "../inbox/inbox.css";

const route = getRouteApi("/approve/$linkId");

function Question({ link, approval }: { link: LinkSecret; approval: LinkedApproval }) {
  const decide = useMutation({ mutationFn: (decision: Decision) => decideByLink(link, decision) });
  const open = useMutation({
    mutationFn: async ({ file_id, name }: Attachment) => saveFile(await getLinkedAttachment(link, file_id), name),
  });
  const name = approval.for.name;
  return (
    <article className="card approval">
      <header>
        <h1>{approval.title}</h1>
        <p className="quiet">
          {name && <>For {name}. </>}You can decide once, until <Time at={approval.expires_at} />.
        </p>
      </header>
      <ApprovalBody body={approval.body} />
      <Attachments files={approval.attachments} onSave={(file) => open.mutate(file)} />
      {open.isError && <ErrorNotice error={open.error} />}
      {decide.data ? (
        <div className={`notice ${decide.data.decision === "approve" ? "good" : "plain"}`} role="status">
          <p>
            <strong>{decide.data.decision === "approve" ? "You approved this." : "You rejected this."}</strong>{" "}
            {decide.data.status === "pending" && "Others are asked too. "}You can close this page.
          </p>
        </div>
      ) : (
        <DecisionForm
          id={link.id}
          schema={approval.form}
          isPending={decide.isPending}
          error={decide.error}
          onDecide={(decision) => decide.mutate(decision)}
        />
      )}
    </article>
  );
}

/** One approval for a person without an account. Opening the page never decides, and the link gives no other access. */
export function LinkedApprovalPage() {
  const { linkId } = route.useParams();
  // browsers send the part after # to no server
  const [secret] = useState(() => location.hash.slice(1));
  const link = { id: linkId, secret };
  const approval = useQuery(getLinkedApproval(link));
  return (
    <main className="alone">
      <QueryResult query={approval} what="the question" title="Approval">
        {(data) => <Question link={link} approval={data} />}
      </QueryResult>
    </main>
  );
}
