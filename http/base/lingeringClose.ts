import type { FastifyRequest } from "fastify";

/** The rest of a refused body is read while it arrives, but no longer than this. */
const LINGER_MS = 30_000;
/** A client that has sent nothing for this time has read the answer, or never will. */
const SILENCE_MS = 3_000;

/**
 * Makes the connection of an answered request end only once its client has read the answer, or after a while: closing it while
 * the client is still sending resets the connection, and the client may lose an answer that it has not read yet.
 */
export function lingerOnClose({ raw }: FastifyRequest): void {
  const { socket } = raw;
  // Node calls this after an answer with `connection: close`
  socket.destroySoon = () => {
    const giveUp = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    const silence = setTimeout(() => socket.destroy(), SILENCE_MS).unref();
    raw.on("data", () => void silence.refresh());
    raw.resume();
    socket.end();
    socket.once("close", () => {
      clearTimeout(giveUp);
      clearTimeout(silence);
    });
  };
}
