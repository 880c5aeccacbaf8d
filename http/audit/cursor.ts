import type { FastifyRequest } from "fastify";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";

type Needs = Pick<Http, "keyring" | "log" | "readAuditSlice">;

export type ToCursor = (position: number) => string;

/**
 * Converts event positions to cursors. Positions count the events of all organizations, so they are sealed: a tenant must not
 * learn how much others write.
 */
export const createCursor =
  ({ keyring }: Pick<Http, "keyring">, organization_id: string): ToCursor =>
  (position) =>
    keyring.sealNumber(`events:${organization_id}`, position);

/**
 * Whether an earlier release can have shown this position to the organization: it belongs to one of its events, from when
 * positions were shown (ADR 87). Later positions are refused, because trying them all would reveal how much others write.
 */
async function wasShown({ log, readAuditSlice }: Needs, organization_id: string, position: number): Promise<boolean> {
  if (position === 0) return true;
  if (position > (await log.lastShownPosition())) return false;
  const query = { after: position - 1, limit: 1 };
  const { events } = await readAuditSlice(organization_id, query);
  return events[0]?.position === position;
}

/** Reads a cursor and returns its position; undefined without a cursor. Throws a 400. */
export async function readCursor(
  http: Needs,
  organization_id: string,
  param: string,
  text: string | undefined,
): Promise<number | undefined> {
  if (text === undefined || text === "") return undefined;
  const position = /^\d{1,15}$/.test(text) ? Number(text) : http.keyring.openNumber(`events:${organization_id}`, text);
  const isSealed = position !== undefined && String(position) !== text;
  if (position !== undefined && (isSealed || (await wasShown(http, organization_id, position)))) return position;
  throw new ApiError(null, `${param}: must be the cursor of an event.`, { param });
}

/** The position after which a client resumes. Throws a 400. */
export const readLastEventId = (http: Needs, { caller, headers }: FastifyRequest): Promise<number | undefined> =>
  readCursor(http, caller.organization_id, "Last-Event-ID", headers["last-event-id"] as string | undefined);
