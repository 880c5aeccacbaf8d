import type { ApprovalPeopleEvent } from "#events/approvalPeople.ts";
import type { RecordedEvent } from "#events/envelope.ts";
import { decode, decodeOrNull, encode, putRow, type Change, type Db } from "../projection.ts";
import { handedFiles, parseFiles, putFiles, type AttachmentRow } from "./approvalFiles.ts";

type EventRecord<T extends ApprovalPeopleEvent["type"]> = RecordedEvent<Extract<ApprovalPeopleEvent, { type: T }>>;

export const approvalPeople = {
  ApprovalDelegated: ({ data, personal, version, recorded_at }: EventRecord<"ApprovalDelegated">): Change[] => {
    if (!personal) return [];
    const { approval_id, run_id, by, to } = data;
    const row = { run_id, by_id: by.id, to_id: to, reason: encode(personal.reason), at: recorded_at };
    return [putRow("approval_delegations", { approval_id, version }, row)];
  },
  ApprovalCommented: (event: EventRecord<"ApprovalCommented">): Change[] => {
    const { data, personal, version, recorded_at } = event;
    if (!personal) return [];
    const { approval_id, run_id, by, comment_id } = data;
    const author = { by_type: by.type, by_id: by.id };
    const row = { approval_id, run_id, version, ...author, text: encode(personal.text), at: recorded_at };
    return [putRow("approval_comments", comment_id, row), ...putFiles(event)];
  },
};

export interface CommentRow {
  id: string;
  /** `name` is null if the person no longer exists. */
  by: { type: string; id: string; name: string | null };
  text: string;
  /** Existing files only. */
  files: AttachmentRow[];
  at: Date;
}

interface StoredComment extends Omit<CommentRow, "by" | "files"> {
  by_type: string;
  by_id: string;
  name: string | null;
  files: AttachmentRow[] | null;
}

/** The comments on an approval, oldest first. */
export async function listComments(db: Db, approval: string): Promise<CommentRow[]> {
  const rows = await db.query<StoredComment>(
    `select m.id, m.by_type, m.by_id, u.name, m.text, m.at, (${handedFiles("o.version = m.version")}) as files
     from read.approvals a join read.approval_comments m on m.approval_id = a.id left join read.users u on u.id = m.by_id
     where a.id = $1 order by m.version`,
    [approval],
  );
  return rows.map(({ id, by_type, by_id, name, text, files, at }) => ({
    id,
    by: { type: by_type, id: by_id, name: decodeOrNull(name) },
    text: decode(text),
    files: parseFiles(files),
    at,
  }));
}
