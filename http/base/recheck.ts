import type { FastifyReply } from "fastify";

/** An open request authenticates its caller again this often, so that a revoked credential reads nothing more after 2 s. */
export const RECHECK_MS = 1_500;

/** Authenticates the caller again before an answer that was waited for. Throws what the route's own authentication throws. */
export async function recheckAfterWait({ request, elapsedTime }: FastifyReply): Promise<void> {
  if (elapsedTime > RECHECK_MS) await request.recheckCredential?.();
}
