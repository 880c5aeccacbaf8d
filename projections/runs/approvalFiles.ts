import type { ApprovalPeopleEvent } from "#events/approvalPeople.ts";
import type { RecordedEvent } from "#events/envelope.ts";
import type { RunEvent } from "#events/run.ts";
import { decode, putRow, type Change, type Db } from "../projection.ts";

/* Files that people hand to a run with a decision, a vote or a comment. They remain files of their uploader (ADR 67). */

type HandingEvent = Extract<
  RunEvent | ApprovalPeopleEvent,
  { type: "ApprovalVoted" | "ApprovalDecided" | "ApprovalCommented" }
>;

/** Rows for the files that came with a vote, a decision or a comment, in their order. */
export const putFiles = ({ type, data, version }: RecordedEvent<HandingEvent>): Change[] =>
  (data.files ?? []).map((file_id, nth) =>
    putRow(
      "approval_files",
      { approval_id: data.approval_id, version, nth },
      { run_id: data.run_id, file_id, decides: type === "ApprovalDecided" },
    ),
  );

/** A file shown to readers of an approval. */
export interface AttachmentRow {
  file_id: string;
  name: string;
  mime_type: string;
  bytes: number;
}

const FILE = "json_build_object('file_id', t.id, 'name', t.filename, 'mime_type', t.mime_type, 'bytes', t.bytes)";
/** SQL column: the existing files of this list of an approval `a`. */
export const listedFiles = (list: string): string => `select json_agg(${FILE} order by o.nth)
    from jsonb_array_elements_text(${list}::jsonb) with ordinality o (id, nth)
    join read.files t on t.id = o.id::uuid and t.organization_id = a.organization_id`;
/** SQL column: the existing files handed over with an event `o` about an approval `a`. */
export const handedFiles = (which: string): string => `select json_agg(${FILE} order by o.nth)
    from read.approval_files o join read.files t on t.id = o.file_id and t.organization_id = a.organization_id
    where o.approval_id = a.id and ${which}`;

export const parseFiles = (files: AttachmentRow[] | null): AttachmentRow[] =>
  (files ?? []).map(({ file_id, name, mime_type, bytes }) => ({
    file_id,
    name: decode(name),
    mime_type: decode(mime_type),
    bytes: Number(bytes),
  }));

/** Whether a file came with a decision, a vote or a comment on an approval. */
export async function isHandedWith(db: Db, approval: string, file: string): Promise<boolean> {
  const found = await db.query("select from read.approval_files where approval_id = $1 and file_id = $2 limit 1", [
    approval,
    file,
  ]);
  return found.length > 0;
}

/** The files that people handed to a run with approvals, in order, each with the first approval it came with. */
export async function listHandedFiles(db: Db, run: string): Promise<{ file_id: string; approval_id: string }[]> {
  return db.query<{ file_id: string; approval_id: string }>(
    `select file_id, approval_id from (select distinct on (file_id) * from read.approval_files where run_id = $1
       order by file_id, version, nth) one order by version, nth`,
    [run],
  );
}
