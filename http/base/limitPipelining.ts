import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Maximum unanswered requests per connection. SDKs, browsers and proxies wait for each answer before the next request. */
const MAX_UNANSWERED = 16;

/** Node creates an error for each unanswered request of a closed connection. Without stack traces they cost a tenth. */
function closeCheaply(socket: Socket): void {
  const { stackTraceLimit } = Error;
  socket.prependOnceListener("close", () => void (Error.stackTraceLimit = 0));
  socket.once("close", () => void (Error.stackTraceLimit = stackTraceLimit));
  socket.destroy();
}

/** A constant of Node's parser: stops parsing the packet after this request. */
const STOP = 2;
/** The undocumented interface through which Node's HTTP server receives requests. */
interface Parser {
  onIncoming?(request: IncomingMessage, shouldKeepAlive: boolean): number;
}

/** Stops parsing the last packet of a closed connection, because a hundred requests in it take half a millisecond. */
function stopWithConnection(socket: Socket & { parser?: Parser }): void {
  const { parser } = socket;
  const onIncoming = parser?.onIncoming;
  if (!parser || !onIncoming) return;
  parser.onIncoming = (request, shouldKeepAlive) => (socket.destroyed ? STOP : onIncoming(request, shouldKeepAlive));
}

/**
 * Closes a connection with more unanswered requests than MAX_UNANSWERED. One packet can hold 2,000 requests, which the parser
 * delivers in one round of the event loop, before any of them is authenticated. They would block everybody else.
 */
export function limitPipelining(server: Server): void {
  const unanswered = new WeakMap<Socket, number>();
  const [handle] = server.listeners("request");
  server.removeAllListeners("request");
  server.on("connection", stopWithConnection);
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    // remaining requests of the last packet
    if (socket.destroyed) return;
    const before = unanswered.get(socket) ?? 0;
    if (before === MAX_UNANSWERED) return closeCheaply(socket);
    unanswered.set(socket, before + 1);
    response.once("close", () => unanswered.set(socket, unanswered.get(socket)! - 1));
    handle!.call(server, request, response);
  });
}
