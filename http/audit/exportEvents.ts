import type { FastifyReply, FastifyRequest } from "fastify";
import type { AuditLog } from "#events/auditLog.ts";
import type { Http } from "../base/deps.ts";
import { downloadHeaders } from "../base/downloadHeaders.ts";
import { jsonLines } from "../base/jsonLines.ts";
import { createCursor } from "./cursor.ts";
import { presentEvent } from "./eventShape.ts";

const BATCH = 500;

type Range = Omit<Parameters<AuditLog["slice"]>[1], "limit" | "newest_first">;

/** Yields all events of a range. The credential is checked again for each batch, because it may end before the export does. */
async function* readRange(http: Http, request: FastifyRequest, range: Range): AsyncGenerator<object> {
  const { organization_id } = request.caller;
  const toCursor = createCursor(http, organization_id);
  for (let [after, more] = [range.after, true]; more && !http.closing.aborted; ) {
    await request.recheckCredential?.();
    const slice = await http.readAuditSlice(organization_id, { ...range, after, limit: BATCH });
    for (const event of slice.events) yield presentEvent(event, toCursor);
    after = slice.events.at(-1)?.position ?? after;
    more = slice.more;
  }
}

/** Sends the events as a file, which is read from the log while it is sent. */
export function exportEvents(http: Http, request: FastifyRequest, reply: FastifyReply, range: Range): FastifyReply {
  http.streams.countExport(reply);
  return reply
    .headers(downloadHeaders({ mime_type: "application/x-ndjson", filename: "events.jsonl" }))
    .send(jsonLines(readRange(http, request, range)));
}
