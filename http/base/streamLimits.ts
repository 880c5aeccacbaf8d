import type { FastifyReply, FastifyRequest } from "fastify";
import { ApiError } from "./errors.ts";

const MAX_OF_CREDENTIAL = 50;
const MAX_OF_ORGANIZATION = 200;
/** Maximum concurrent exports per organization. Exports are built while they are sent, which keeps the process and the database busy. */
const MAX_EXPORTS = 1;
const RETRY_MS = 5_000;

interface StreamReply {
  request: Pick<FastifyRequest, "caller">;
  raw: Pick<FastifyReply["raw"], "destroyed" | "once">;
}

/** Limits the open streams of this process that follow the log. Streams of turns are not included, because turns have their own limit. */
export function createStreamLimits({
  perCredential = MAX_OF_CREDENTIAL,
  perOrganization = MAX_OF_ORGANIZATION,
  exports = MAX_EXPORTS,
} = {}) {
  const open = new Map<string, number>();
  const add = (name: string, count: number): void => {
    const now = (open.get(name) ?? 0) + count;
    if (now === 0) open.delete(name);
    else open.set(name, now);
  };
  const addUntilClosed = (name: string, raw: StreamReply["raw"]): void => {
    if (raw.destroyed) return;
    add(name, 1);
    raw.once("close", () => add(name, -1));
  };
  const refuse = (limit: number, whose: string): never => {
    throw new ApiError("too_many_streams", `${whose} may have ${limit} open streams; close some first.`, {
      retryAfterMs: RETRY_MS,
    });
  };

  return {
    /** Counts a stream until its connection closes. Throws 429 `too_many_streams`. */
    count({ request, raw }: StreamReply): void {
      const { organization_id, principal, session } = request.caller;
      const credential = session ? `session:${session.session_id}` : principal;
      if ((open.get(credential) ?? 0) >= perCredential) refuse(perCredential, "A credential");
      if ((open.get(organization_id) ?? 0) >= perOrganization) refuse(perOrganization, "An organization");
      for (const name of [credential, organization_id]) addUntilClosed(name, raw);
    },
    /** Counts an export until its connection closes. Throws 429 `too_many_streams`. */
    countExport({ request, raw }: StreamReply): void {
      const name = `exports of ${request.caller.organization_id}`;
      if ((open.get(name) ?? 0) < exports) return addUntilClosed(name, raw);
      const message = `An organization may have ${exports} export at a time; wait for its end.`;
      throw new ApiError("too_many_streams", message, { retryAfterMs: RETRY_MS });
    },
  };
}

export type StreamLimits = ReturnType<typeof createStreamLimits>;
