import type { FastifyRequest } from "fastify";

/** Maximum time for reading the rest of a refused body. */
const LINGER_MS = 30_000;
/** A client that sends nothing for this long has read the answer, or never will. */
const SILENCE_MS = 3_000;

/**
 * Delays the close of an answered connection until its client has read the answer, within limits. An immediate close while the
 * client is sending would reset the connection, and the client might lose the answer.
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
