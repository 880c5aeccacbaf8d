import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { currentTime } from "#events/clock.ts";
import { requireAdmin } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { downloadHeaders } from "../base/downloadHeaders.ts";
import { jsonLines } from "../base/jsonLines.ts";
import { documentLines, extractionLines } from "./exportKnowledge.ts";
import { accountLines, eventLines, ownedLines, type ExportLine, type ExportScope } from "./exportLines.ts";
import { approvalLines, runLines } from "./exportRuns.ts";
import { findSubject, SubjectName } from "./exportSubject.ts";

/** Read models that an export reads. It waits until they include all events up to its start. */
const MODELS = ["users", "turns", "files", "runs", "documents", "extractions", "usage"];
const SECTIONS = [accountLines, ownedLines, runLines, approvalLines, documentLines, extractionLines, eventLines];

async function* allLines(scope: ExportScope, subject: string): AsyncGenerator<ExportLine> {
  const { http, organization_id } = scope;
  yield { type: "export", subject, organization_id, created_at: new Date(currentTime()) };
  const counts: Record<string, number> = {};
  for (const section of SECTIONS)
    for await (const line of section(scope)) {
      if (http.closing.aborted) return;
      counts[line.type] = (counts[line.type] ?? 0) + 1;
      yield line;
    }
  yield { type: "end", counts };
}

async function send(http: Http, request: FastifyRequest, reply: FastifyReply, name: string): Promise<FastifyReply> {
  const { organization_id } = request.caller;
  http.streams.countExport(reply);
  const { events } = await http.readAuditSlice(organization_id, {
    after: Number.MAX_SAFE_INTEGER,
    limit: 1,
    newest_first: true,
  });
  // after the newest event was read, so that the read models have what it and earlier ones made
  await http.waitUntilCurrent(MODELS);
  const subject = await findSubject(http, organization_id, name);
  const recheck = async () => request.recheckCredential?.();
  const scope = { http, organization_id, subject, until: events[0]?.position ?? 0, sent: new Set<string>(), recheck };
  return reply
    .headers(downloadHeaders({ mime_type: "application/x-ndjson", filename: "export.jsonl" }))
    .send(jsonLines(allLines(scope, name)));
}

const Export = z.object({ subject: SubjectName });

/** Exports everything stored about one person, key or external user, for owners and admins. */
export function exportRoutes(app: App, http: Http): void {
  const onRequest = requireAdmin(http);
  const baseSchema = {
    tags: ["Exports"],
    security: [{ session: [] }],
    description:
      "JSON lines, sent while they are read: the account, threads with their turns, files, runs with their approvals, turns and files, approvals that were decided, documents, extractions, and the events of the log that the " +
      "subject caused or that name it. Bytes of files, attachments and documents follow as `content` lines in base64, in parts, once for each `sha256`. The last line has the type `end` and counts the others: without it " +
      "the export is not complete.",
  };

  const summary = "Export everything about a person, a key or an external user";
  const exporting = { ...baseSchema, summary, querystring: Export };
  app.get("/exports", { onRequest, schema: exporting }, (request, reply) =>
    send(http, request, reply, request.query.subject),
  );

  // an address has no room for every value of `user`: each Chinese character takes nine bytes of its 16 KiB
  const posting = { ...baseSchema, summary: `${summary} that the body names`, body: Export };
  app.post("/exports", { onRequest, schema: posting }, (request, reply) =>
    send(http, request, reply, request.body.subject),
  );
}
