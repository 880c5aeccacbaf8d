import { queryOptions } from "@tanstack/react-query";
import { call, itemPath, queryOne, send } from "./call.ts";
import type { Approval } from "./types.ts";

export interface ApprovalLink {
  id: string;
  status: "active" | "used" | "revoked" | "ended";
  for: { name: string | null; email: string | null };
  created_by: { id: string; name: string | null };
  expires_at: string;
}

/** The address contains the link's secret, which no later answer returns. */
interface NewApprovalLink {
  id: string;
  url: string;
  expires_at: string;
}

const linksPath = (approval: string): string => `${itemPath("workflows/approvals", approval)}/links`;

export const listLinks = (approval: string) =>
  queryOptions({
    queryKey: ["run", "approvalLinks", approval],
    queryFn: queryOne<{ data: ApprovalLink[] }>(linksPath(approval)),
  });

export const createLink = (approval: string, body: { expires_in: number; for: { name: string | null } }) =>
  call<NewApprovalLink>(linksPath(approval), { method: "POST", body });

export const revokeLink = (approval: string, link: string) =>
  call(itemPath(linksPath(approval), link), { method: "DELETE" });

/** The parts of an approval that a person with a link sees. */
export interface LinkedApproval extends Pick<Approval, "title" | "body" | "form" | "attachments" | "expires_at"> {
  for: { name: string | null };
}

/** The id and the secret of a link. The secret is sent in a header, because addresses appear in logs. */
export interface LinkSecret {
  id: string;
  secret: string;
}

const linkedPath = ({ id }: LinkSecret, path = "") => `${itemPath("workflows/approval-links", id)}${path}`;
const bearer = ({ secret }: LinkSecret) => ({ authorization: `Bearer ${secret}` });

export const getLinkedApproval = (link: LinkSecret) =>
  queryOptions({
    queryKey: ["linkedApproval", link.id],
    queryFn: ({ signal }) => call<LinkedApproval>(linkedPath(link), { headers: bearer(link), signal }),
  });

/** The secret is sent in a header, so the bytes are fetched instead of linked. */
export async function getLinkedAttachment(link: LinkSecret, file_id: string): Promise<Blob> {
  const path = itemPath(linkedPath(link, "/attachments"), file_id);
  return (await send(path, { headers: bearer(link) })).blob();
}

export function decideByLink(link: LinkSecret, decision: object) {
  return call<{ status: Approval["status"]; decision: "approve" | "reject" }>(linkedPath(link, "/decision"), {
    method: "POST",
    headers: bearer(link),
    body: decision,
  });
}
