import type { FastifyReply } from "fastify";
import type { Caller } from "./caller.ts";
import { createCounter } from "./counter.ts";
import { ApiError } from "./errors.ts";

const MAX_OF_CREDENTIAL = 50;
const MAX_OF_ORGANIZATION = 200;
/** Maximum concurrent exports per organization. Exports are built while they are sent, which keeps the process and the database busy. */
const MAX_EXPORTS = 1;
const RETRY_MS = 5_000;

interface StreamReply {
  /** Of a caller, or of a hook. */
  request: {
    caller?: Pick<Caller, "organization_id" | "principal" | "session"> | null;
    trigger?: { organization_id: string; trigger_id: string } | null;
  };
  raw: Pick<FastifyReply["raw"], "destroyed" | "once">;
}

const organizationOf = ({ caller, trigger }: StreamReply["request"]): string => (caller ?? trigger)!.organization_id;
const credentialOf = ({ caller, trigger }: StreamReply["request"]): string =>
  caller?.session ? `session:${caller.session.session_id}` : (caller?.principal ?? `webhook:${trigger!.trigger_id}`);

/**
 * Limits the open streams of this process that follow the log, and the reads that wait for the end of a run. Streams of turns are
 * not included, because turns have their own limit.
 */
export function createStreamLimits({
  perCredential = MAX_OF_CREDENTIAL,
  perOrganization = MAX_OF_ORGANIZATION,
  exports = MAX_EXPORTS,
} = {}) {
  const open = createCounter();
  const addUntilClosed = (name: string, raw: StreamReply["raw"]): void => {
    if (raw.destroyed) return;
    open.add(name, 1);
    raw.once("close", () => open.add(name, -1));
  };
  const refuse = (limit: number, whose: string): never => {
    throw new ApiError(
      "too_many_streams",
      `${whose} may have ${limit} open streams and waiting reads; close some first.`,
      {
        retryAfterMs: RETRY_MS,
      },
    );
  };

  return {
    /** Counts a stream, or a read that waits, until its answer has ended. Throws 429 `too_many_streams`. */
    count({ request, raw }: StreamReply): void {
      const [credential, organization] = [credentialOf(request), organizationOf(request)];
      if (open.count(credential) >= perCredential) refuse(perCredential, "A credential");
      if (open.count(organization) >= perOrganization) refuse(perOrganization, "An organization");
      for (const name of [credential, organization]) addUntilClosed(name, raw);
    },
    /** Counts an export until its connection closes. Throws 429 `too_many_streams`. */
    countExport({ request, raw }: StreamReply): void {
      const name = `exports of ${organizationOf(request)}`;
      if (open.count(name) < exports) return addUntilClosed(name, raw);
      const message = `An organization may have ${exports} export at a time; wait for its end.`;
      throw new ApiError("too_many_streams", message, { retryAfterMs: RETRY_MS });
    },
  };
}

export type StreamLimits = ReturnType<typeof createStreamLimits>;
