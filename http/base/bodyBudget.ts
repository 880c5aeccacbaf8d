import type { FastifyRequest } from "fastify";
import { Unavailable } from "#events/ports.ts";
import { MIB } from "#events/units.ts";
import { createCounter } from "./counter.ts";
import { ApiError } from "./errors.ts";
import { networkOf } from "./networkOf.ts";

/** Bytes of request bodies and of outgoing files that this process may hold. Beyond it, bodies that grow get a 503. */
const MAX_HELD_BYTES = 256 * MIB;
/**
 * Maximum for one organization. A single body is accepted whatever its size, because its route limits it. When less than twice this
 * is left of the total, an organization gets at most half of the rest, so that one more always finds room.
 */
const MAX_OWNER_BYTES = 64 * MIB;
const RETRY_MS = 1_000;

/** Null before authentication. */
type Owner = { organization_id: string } | null;

interface Body {
  owner: string;
  bytes: number;
}

/**
 * Who the bytes and the place of a request count for: the organization of its credential or hook, else the network, because a
 * stranger may have any address in it.
 */
export function bodyOwner(request: Pick<FastifyRequest, "ip"> & { caller?: Owner; trigger?: Owner }): string {
  const { caller, trigger, ip } = request;
  return caller?.organization_id ?? trigger?.organization_id ?? networkOf(ip);
}

/**
 * Limits the bytes of request bodies, and of files being sent, that this process holds. Bytes count when they arrive, not when a
 * header announces them.
 */
export function createBodyBudget({ total = MAX_HELD_BYTES, perOwner = MAX_OWNER_BYTES } = {}) {
  const bodies = new Map<FastifyRequest, Body>();
  /** Refused bodies. The rest of such a body is read, discarded and not counted. */
  const released = new WeakSet<FastifyRequest>();
  const heldByOwner = createCounter();
  let held = 0;

  const add = (body: Body, bytes: number): void => {
    body.bytes += bytes;
    held += bytes;
    heldByOwner.add(body.owner, bytes);
  };

  function requireRoom(body: Body, bytes: number): void {
    const owned = heldByOwner.count(body.owner);
    if (owned > body.bytes && owned + bytes > perOwner)
      throw new ApiError("too_many_bytes", "Too many bytes at once; send fewer requests in parallel.", {
        retryAfterMs: RETRY_MS,
      });
    const left = total - held - bytes;
    if (held > body.bytes && left < Math.min(owned + bytes, perOwner))
      throw new Unavailable("Too many request bodies at once");
  }

  return {
    /** Counts bytes of a body as they arrive. Throws 429 `too_many_bytes` beyond the owner's share, and Unavailable beyond the total. */
    countArrived(request: FastifyRequest, bytes: number): void {
      if (released.has(request)) return;
      const body = bodies.get(request) ?? { owner: bodyOwner(request), bytes: 0 };
      if (bytes > 0) requireRoom(body, bytes);
      bodies.set(request, body);
      add(body, bytes);
    },
    /** Stops counting the bytes of a body. */
    release(request: FastifyRequest): void {
      released.add(request);
      const body = bodies.get(request);
      if (!body) return;
      bodies.delete(request);
      add(body, -body.bytes);
    },
    heldBytes: () => held,
  };
}

export type BodyBudget = ReturnType<typeof createBodyBudget>;
