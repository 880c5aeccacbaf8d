import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  /** The parsed JSON body; undefined if there is none. */
  body: any;
  /** Equal for requests on the same connection. */
  connection: number;
}

const MAX_REQUESTS = 1_000;

async function readBody(request: IncomingMessage): Promise<any> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString("utf8"));
}

export const sendJson = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
};

/** An HTTP server on a loopback port that records the last 1,000 requests, oldest first. */
export async function startLoopback(
  handle: (request: ReceivedRequest, response: ServerResponse) => void | Promise<void>,
) {
  const requests: ReceivedRequest[] = [];

  const receive = async (incoming: IncomingMessage, response: ServerResponse) => {
    const { method = "", url: path = "", headers } = incoming;
    const body = await readBody(incoming);
    const request = { method, path, headers, body, connection: incoming.socket.remotePort ?? 0 };
    requests.push(request);
    if (requests.length > MAX_REQUESTS) requests.shift();
    await handle(request, response);
  };
  const server = createServer((incoming, response) => {
    receive(incoming, response).catch(() => response.destroy());
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: (): Promise<void> => {
      server.closeAllConnections();
      return new Promise((closed) => server.close(() => closed()));
    },
  };
}

/** How a stream's bytes are cut: not at all, after each byte, or at odd places. */
export type Pieces = "whole" | "bytes" | "odd";

/** Writes a text in pieces of this kind, each in a separate write. */
export async function writePieces(response: ServerResponse, text: string, pieces: Pieces = "whole"): Promise<void> {
  const bytes = Buffer.from(text);
  if (pieces === "whole") return void response.write(bytes);
  for (let at = 0, n = 0; at < bytes.length; n += 1) {
    const size = pieces === "bytes" ? 1 : 1 + ((n * 7) % 23);
    response.write(bytes.subarray(at, at + size));
    at += size;
    if (n % 8 === 0) await new Promise(setImmediate);
  }
}
