import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { newId } from "#events/ids.ts";
import { ApiError, errorBody } from "./errors.ts";

const REASON: Record<number, string> = {
  400: "Bad Request",
  408: "Request Timeout",
  431: "Request Header Fields Too Large",
};

/** Answers a request that the HTTP parser refused. Fastify never sees it, so the answer is written to the socket, which is then closed. */
export function answerBadRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable || socket.destroyed) return void socket.destroy();
  const refused = errorFor(error.code);
  const body = JSON.stringify(errorBody(refused));
  const head = [
    `HTTP/1.1 ${refused.status} ${REASON[refused.status]}`,
    "content-type: application/json; charset=utf-8",
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${newId()}`,
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}

function errorFor(code: string | undefined): ApiError {
  if (code === "HPE_HEADER_OVERFLOW")
    return new ApiError("headers_too_large", "The address and the headers of the request have more than 16 KiB.");
  if (code === "ERR_HTTP_REQUEST_TIMEOUT")
    return new ApiError("request_timeout", "The request did not arrive in time; send it over a faster connection.");
  return new ApiError(null, "The request is not well-formed HTTP.");
}

/** Answers an unknown Expect header, which Node would refuse with an empty body. */
export function answerExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const body = JSON.stringify(
    errorBody(new ApiError(null, "The Expect header must be 100-continue.", { status: 417 })),
  );
  response
    .writeHead(417, { "content-type": "application/json; charset=utf-8", "x-request-id": newId(), connection: "close" })
    .end(body);
}
