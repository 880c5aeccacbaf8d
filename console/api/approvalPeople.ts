import { queryOptions } from "@tanstack/react-query";
import { address, call, itemPath, queryOne } from "./call.ts";
import type { Approval, Attachment, NamedPerson } from "./types.ts";

/** Of one decision, or one comment. */
export const MAX_FILES = 20;

interface ApprovalComment {
  id: string;
  by: NamedPerson;
  text: string;
  files: Attachment[];
  at: string;
}

const pathOf = (approval: string, what: string): string => `${itemPath("workflows/approvals", approval)}/${what}`;

/** The addresses of the files of an approval, its decision and its comments. */
export const attachmentAddress =
  (approval: string) =>
  ({ file_id }: Attachment): string =>
    address(itemPath(pathOf(approval, "attachments"), file_id)).href;

export const listComments = (approval: string) =>
  queryOptions({
    queryKey: ["run", "approvalComments", approval],
    queryFn: queryOne<{ data: ApprovalComment[] }>(pathOf(approval, "comments")),
  });

export const commentOn = (approval: string, body: { text: string; files: string[] }) =>
  call<ApprovalComment>(pathOf(approval, "comments"), { method: "POST", body });

export const delegateApproval = (approval: string, body: { to: string; reason: string }) =>
  call<Approval>(pathOf(approval, "delegate"), { method: "POST", body });

/** All fields are null without a substitute. */
export interface Substitute {
  substitute: NamedPerson | null;
  from: string | null;
  until: string | null;
}

const substitutePath = (person: string): string => `${itemPath("members", person)}/substitute`;

export const getSubstitute = (person: string) =>
  queryOptions({
    queryKey: ["organization", "substitute", person],
    queryFn: queryOne<Substitute>(substitutePath(person)),
  });

export const nameSubstitute = (person: string, body: { substitute: string; from: string; until: string }) =>
  call<Substitute>(substitutePath(person), { method: "PUT", body });

export const withdrawSubstitute = (person: string) => call(substitutePath(person), { method: "DELETE" });
