import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { getAnyFile } from "#projections/files/query.ts";
import type { ApprovalRow } from "#projections/runs/approvals.ts";
import { requireCredential } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { sendFile } from "../base/sendFile.ts";
import { readFile } from "../turns/files.ts";
import { requireApproval } from "./decideApproval.ts";

/** Answers with the bytes of a file that an approval shows. Throws 404 `file_not_found`. */
export async function sendAttachment(
  http: Http,
  request: FastifyRequest,
  reply: FastifyReply,
  organization_id: string,
  { attachments }: ApprovalRow,
  file_id: string,
): Promise<FastifyReply> {
  const id = file_id.toLowerCase();
  const isAttached = attachments.some((one) => one.file_id === id);
  const row = isAttached ? await getAnyFile(http.db, organization_id, id) : undefined;
  const sent = row && (await sendFile(request, reply, row, () => readFile(http, row)));
  if (!sent) throw new ApiError("file_not_found", "The approval has no such file.", { param: "file_id" });
  return sent;
}

/** Files that an approval shows, for everybody who may read it. */
export function attachmentRoutes(app: App, http: Http): void {
  const reading = {
    tags: ["Workflows"],
    security: [{ key: [] }],
    summary: "The bytes of a file that an approval shows",
    params: z.object({ approval_id: z.string(), file_id: z.string() }),
  };
  app.get(
    "/approvals/:approval_id/attachments/:file_id",
    { onRequest: requireCredential(http), schema: reading },
    async (request, reply) => {
      const { caller, params } = request;
      const approval = await requireApproval(http, caller, params.approval_id);
      return sendAttachment(http, request, reply, caller.organization_id, approval, params.file_id);
    },
  );
}
