import { isUuid } from "#events/ids.ts";
import { decode, decodeOrNull, type Db } from "../projection.ts";

export interface ApprovalLinkRow {
  id: string;
  approval_id: string;
  run_id: string;
  organization_id: string;
  /** SHA-256 of the secret. */
  secret_hash: string;
  /** The person the link is for. */
  name: string | null;
  email: string | null;
  /** The person who created it; `name` is null if that person no longer exists. */
  created_by: { id: string; name: string | null };
  expires_at: Date;
  created_at: Date;
  revoked_at: Date | null;
  used_at: Date | null;
  decision: "approve" | "reject" | null;
}

interface StoredRow extends Omit<ApprovalLinkRow, "created_by"> {
  created_by_id: string;
  created_by_name: string | null;
}

const SELECT = `select l.id, l.approval_id, l.run_id, l.organization_id, l.secret_hash, l.name, l.email, l.created_by_id,
    u.name as created_by_name, l.expires_at, l.created_at, l.revoked_at, l.used_at, l.decision
  from read.approval_links l left join read.users u on u.id = l.created_by_id and u.organization_id = l.organization_id`;

const parseRow = ({ created_by_id, created_by_name, ...row }: StoredRow): ApprovalLinkRow => ({
  ...row,
  name: decodeOrNull(row.name),
  email: decodeOrNull(row.email),
  created_by: { id: created_by_id, name: created_by_name === null ? null : decode(created_by_name) },
});

/** A link of any organization: its secret is the credential, which the caller checks. */
export async function findApprovalLink(db: Db, id: string): Promise<ApprovalLinkRow | undefined> {
  if (!isUuid(id)) return undefined;
  const [row] = await db.query<StoredRow>(`${SELECT} where l.id = $1`, [id]);
  return row && parseRow(row);
}

/** The links of an approval, in the order of their creation. */
export async function listApprovalLinks(db: Db, organization: string, approval: string): Promise<ApprovalLinkRow[]> {
  const rows = await db.query<StoredRow>(
    `${SELECT} where l.organization_id = $1 and l.approval_id = $2 order by l.version, l.id`,
    [organization, approval],
  );
  return rows.map(parseRow);
}
