import type { FastifyRequest } from "fastify";
import type { App } from "./app.ts";
import { bodyOwner } from "./bodyBudget.ts";
import type { Http } from "./deps.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Waits until few reads of its organization are long ones. Kept until the answer is made, or the client has left. */
    readsMuch(): Promise<void>;
  }
}

/** Long reads that a process makes answers for at once: those of all organizations, and of one. */
export const LONG_READS = { total: 6, perTenant: 2 };

/**
 * Lets an organization read two long things at a time: megabytes arrive, are decrypted and written in short pieces, but the pieces of a
 * dozen requests in each round of the event loop once made everybody wait for half a second.
 */
export function limitLongReads(app: App, { longReads }: Pick<Http, "longReads">): void {
  const release = new WeakMap<FastifyRequest, () => void>();
  app.decorateRequest("readsMuch", async function () {
    if (release.has(this)) return;
    const owner = bodyOwner(this);
    let isHeld = false;
    let isOver = false;
    release.set(this, () => {
      isOver = true;
      if (isHeld) longReads.release(owner);
      isHeld = false;
    });
    await longReads.acquire(owner);
    isHeld = true;
    if (isOver) release.get(this)!();
  });
  app.addHook("onRequest", (request, reply, done) => {
    reply.raw.once("close", () => release.get(request)?.());
    done();
  });
  app.addHook("onSend", (request, _reply, payload, done) => {
    release.get(request)?.();
    done(null, payload);
  });
}
