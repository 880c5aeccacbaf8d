import type { FastifyRequest } from "fastify";
import { Unavailable } from "#events/ports.ts";

/** All bodies that are being read or held at one time; beyond it a new one is told to come back. */
const MAX_HELD = 256 * 1024 * 1024;
/** What a body without Content-Length counts, until more of it has arrived. */
const UNTOLD = 1024 * 1024;

function announced({ headers }: FastifyRequest): number {
  const length = Number(headers["content-length"]);
  if (Number.isFinite(length)) return length;
  return headers["transfer-encoding"] === undefined ? 0 : UNTOLD;
}

interface Holding {
  counted: number;
  arrived: number;
}

/** Counts the bytes of bodies in this process. */
export function createBudget(max = MAX_HELD) {
  const holding = new WeakMap<FastifyRequest, Holding>();
  let held = 0;
  /** Throws Unavailable when there is no room beside what others hold; one body alone always has. */
  const take = (bytes: number, own: number): void => {
    if (held > own && held + bytes > max) throw new Unavailable("Too many request bodies are held at once");
    held += bytes;
  };
  return {
    /** Throws Unavailable when there is no room. */
    hold(request: FastifyRequest): void {
      const counted = announced(request);
      take(counted, 0);
      holding.set(request, { counted, arrived: 0 });
    },
    /** So many more bytes of the body are held. Throws Unavailable when there is no room for what was not announced. */
    arrived(request: FastifyRequest, bytes: number): void {
      const its = holding.get(request);
      if (!its) return;
      its.arrived += bytes;
      if (its.arrived <= its.counted) return;
      take(its.arrived - its.counted, its.counted);
      its.counted = its.arrived;
    },
    /** The body is not needed any longer. */
    letGo(request: FastifyRequest): void {
      held -= holding.get(request)?.counted ?? 0;
      holding.delete(request);
    },
    held: () => held,
  };
}

export type Budget = ReturnType<typeof createBudget>;
