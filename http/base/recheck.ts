import type { FastifyReply } from "fastify";

/** Open requests authenticate their caller again at this interval, so that a revoked credential works for at most 2 s. */
export const RECHECK_MS = 1_500;

/** Authenticates the caller again if the answer took long. Throws what the route's own authentication throws. */
export async function recheckAfterWait({ request, elapsedTime }: FastifyReply): Promise<void> {
  if (elapsedTime > RECHECK_MS) await request.recheckCredential?.();
}
