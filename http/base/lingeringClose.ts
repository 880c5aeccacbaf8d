import type { FastifyRequest } from "fastify";

/** How long the rest of a refused body is read. */
const LINGER_MS = 3_000;

/**
 * Makes the connection of an answered request end only once its client has read the answer, or after a while: closing it while
 * the client is still sending resets the connection, and the client may lose an answer that it has not read yet.
 */
export function lingerOnClose({ raw }: FastifyRequest): void {
  const { socket } = raw;
  // Node calls this after an answer with `connection: close`
  socket.destroySoon = () => {
    raw.resume();
    socket.end();
    const giveUp = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    socket.once("close", () => clearTimeout(giveUp));
  };
}
