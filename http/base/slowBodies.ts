import type { IncomingMessage, Server, ServerResponse } from "node:http";

/** A body that is read must grow by MIN_BYTES in each interval. That is 10 KB/s, slower than any modem. */
export const RATE_INTERVAL_MS = 5_000;
export const MIN_BYTES = 50_000;

/** Any request may take this long to arrive. */
const PATIENCE_MS = 120_000;
/** Time for the largest request, with a file of 100 MB, at 1 Mbit/s. */
export const MAX_REQUEST_MS = 15 * 60_000;

interface Arrival {
  response: ServerResponse;
  since: number;
  /** Bytes that its connection had received at the last look. */
  bytes: number;
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

/**
 * Refuses a request that is still arriving after two minutes if fewer than MIN_BYTES came since the last look. So a slow uplink may
 * send a large file, and a connection on which little arrives is not kept. The server's `requestTimeout` ends every request.
 */
export function refuseSlowBodies(server: Server, patience_ms = PATIENCE_MS, interval_ms = RATE_INTERVAL_MS): void {
  const arriving = new Map<IncomingMessage, Arrival>();
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    if (!hasBody(request)) return;
    arriving.set(request, { response, since: performance.now(), bytes: 0 });
    response.once("close", () => arriving.delete(request));
  });

  function look(): void {
    const latest = performance.now() - patience_ms;
    for (const [request, arrival] of arriving) {
      const { socket } = request;
      if (request.complete) arriving.delete(request);
      else if (arrival.since < latest && socket.bytesRead - arrival.bytes < MIN_BYTES)
        refuse(request, arrival.response);
      else arrival.bytes = socket.bytesRead;
    }
  }
  function refuse({ socket }: IncomingMessage, { headersSent }: ServerResponse): void {
    const error = Object.assign(new Error("The request arrives too slowly"), { code: "ERR_HTTP_REQUEST_TIMEOUT" });
    if (headersSent || !server.emit("clientError", error, socket)) socket.destroy();
  }

  const timer = setInterval(look, interval_ms).unref();
  server.once("close", () => clearInterval(timer));
}
