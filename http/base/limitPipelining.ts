import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Requests of one connection that are unanswered. No SDK, browser or proxy sends a second one before the answer to the first. */
const MAX_UNANSWERED = 16;

/** Node makes an error for each request that a closed connection leaves: without their stacks they cost a tenth. */
function closeCheaply(socket: Socket): void {
  const { stackTraceLimit } = Error;
  socket.prependOnceListener("close", () => void (Error.stackTraceLimit = 0));
  socket.once("close", () => void (Error.stackTraceLimit = stackTraceLimit));
  socket.destroy();
}

/** What Node's parser reads no more of a packet after. */
const STOP = 2;
/** How Node's HTTP server hears of requests; it is not documented. */
interface Parser {
  onIncoming?(request: IncomingMessage, shouldKeepAlive: boolean): number;
}

/** The last packet of a connection that was closed is not read to its end: each hundred requests in it took half a millisecond. */
function stopWithConnection(socket: Socket & { parser?: Parser }): void {
  const { parser } = socket;
  const hear = parser?.onIncoming;
  if (!parser || !hear) return;
  parser.onIncoming = (request, shouldKeepAlive) => (socket.destroyed ? STOP : hear(request, shouldKeepAlive));
}

/**
 * Closes a connection that sends more requests than that without waiting for answers. One packet can hold 2,000, which the
 * parser hands over in one turn of the event loop: they once held up everybody, before any of them is authenticated.
 */
export function limitPipelining(server: Server): void {
  const unanswered = new WeakMap<Socket, number>();
  const [handle] = server.listeners("request");
  server.removeAllListeners("request");
  server.on("connection", stopWithConnection);
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    // the rest of its last packet
    if (socket.destroyed) return;
    const before = unanswered.get(socket) ?? 0;
    if (before === MAX_UNANSWERED) return closeCheaply(socket);
    unanswered.set(socket, before + 1);
    response.once("close", () => unanswered.set(socket, unanswered.get(socket)! - 1));
    handle!.call(server, request, response);
  });
}
