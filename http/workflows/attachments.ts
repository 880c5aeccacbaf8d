import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { isUuid } from "#events/ids.ts";
import { getAnyFile } from "#projections/files/query.ts";
import { isHandedWith } from "#projections/runs/approvalFiles.ts";
import type { ApprovalRow } from "#projections/runs/approvals.ts";
import { requireCredential } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { sendFile } from "../base/sendFile.ts";
import { readFile } from "../turns/files.ts";
import { requireApproval } from "./decideApproval.ts";

/** Whether the run attached this file to the approval. */
export const isAttached = ({ attachments }: ApprovalRow, id: string): boolean =>
  attachments.some(({ file_id }) => file_id === id.toLowerCase());

/** Sends a file that is attached to the approval. Throws 404 `file_not_found`. */
export async function sendAttachment(
  http: Http,
  request: FastifyRequest,
  reply: FastifyReply,
  organization_id: string,
  { id, isShown }: { id: string; isShown: boolean },
): Promise<void> {
  const row = isShown ? await getAnyFile(http.db, organization_id, id.toLowerCase()) : undefined;
  if (!row || !(await sendFile(request, reply, row, () => readFile(http, row))))
    throw new ApiError("file_not_found", "The approval has no such file.", { param: "file_id" });
}

/** Serves files that the run, decisions and comments attach to an approval, to everybody who may read it. */
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
      const id = params.file_id;
      const isHanded = isUuid(id) && (await isHandedWith(http.db, approval.id, id.toLowerCase()));
      const file = { id, isShown: isHanded || isAttached(approval, id) };
      await sendAttachment(http, request, reply, caller.organization_id, file);
      return reply;
    },
  );
}
