import type { FastifyRequest } from "fastify";
import { Unavailable } from "#events/ports.ts";

/** All bodies that are being read or held at one time; beyond it a new one is told to come back. */
const MAX_HELD = 256 * 1024 * 1024;
/** What a body without Content-Length counts. */
const UNTOLD = 1024 * 1024;

function announced({ headers }: FastifyRequest): number {
  const length = Number(headers["content-length"]);
  if (Number.isFinite(length)) return length;
  return headers["transfer-encoding"] === undefined ? 0 : UNTOLD;
}

/** Counts the bytes of bodies in this process. */
export function createBudget(max = MAX_HELD) {
  const holding = new WeakMap<FastifyRequest, number>();
  let held = 0;
  return {
    /** Throws Unavailable when there is no room beside what others hold; one body alone always has. */
    hold(request: FastifyRequest): void {
      const bytes = announced(request);
      if (held > 0 && held + bytes > max) throw new Unavailable("Too many request bodies are held at once");
      held += bytes;
      holding.set(request, bytes);
    },
    /** The body is not needed any longer. */
    letGo(request: FastifyRequest): void {
      held -= holding.get(request) ?? 0;
      holding.delete(request);
    },
    held: () => held,
  };
}

export type Budget = ReturnType<typeof createBudget>;
