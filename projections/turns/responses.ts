import type { Principal } from "#events/envelope.ts";
import { ownerColumn, type OwnedPage, type Owner } from "../owner.ts";
import { decode, decodeOrNull, findRow, type Db } from "../projection.ts";

/** An agent's response that does not belong to a run. */
export interface OwnedResponse {
  /** Id of its turn. */
  id: string;
  /** Log position of the event that started it. */
  position: number;
  thread_id: string;
  principal: Principal;
  scope: string;
  agent_id: string;
  model: string;
  status: "running" | "completed" | "failed" | "stopped";
  /** The first words of the user; null if there are none. */
  title: string | null;
  started_at: Date;
  ended_at: Date | null;
}

const SELECT = `select t.id, t.position, t.thread_id, t.principal, t.scope, t.agent_id, t.model, t.status, t.title, t.started_at, t.ended_at
  from read.turns t where t.organization_id = $1 and t.agent_id is not null and t.status <> 'refused'`;
const parseRow = ({ position, model, title, ...row }: OwnedResponse): OwnedResponse => ({
  ...row,
  position: Number(position),
  model: decode(model),
  title: decodeOrNull(title),
});

/** A response of any owner. */
export const getAnyResponse = (db: Db, organization: string, id: string): Promise<OwnedResponse | undefined> =>
  findRow(db, `${SELECT} and t.id = $2`, [organization, id], parseRow);

/** The responses to a key or person, or of an agent, whatever their user value, newest first. */
export async function listResponsesOf(
  db: Db,
  organization: string,
  owner: Owner,
  { before, limit }: OwnedPage,
): Promise<OwnedResponse[]> {
  const { column, value } = ownerColumn(owner);
  const rows = await db.query<OwnedResponse>(
    `${SELECT} and t.${column} = $2 and ($3::bigint is null or t.position < $3) order by t.position desc limit $4`,
    [organization, value, before, limit],
  );
  return rows.map(parseRow);
}
