import { PassThrough } from "node:stream";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { answerBadRequest } from "./parserErrors.ts";

/** The status line of the answer to an error of the HTTP parser, and the error in its body. */
async function answerTo(code: string) {
  const socket = new PassThrough();
  answerBadRequest(Object.assign(new Error("parser"), { code }), socket as unknown as Socket);
  const [head, body] = (await text(socket)).split("\r\n\r\n") as [string, string];
  return [head.split("\r\n")[0], JSON.parse(body).error.code];
}

test("a request that the parser refuses gets the documented error code", async () => {
  expect(await answerTo("ERR_HTTP_REQUEST_TIMEOUT")).toEqual(["HTTP/1.1 408 Request Timeout", "request_timeout"]);
  expect(await answerTo("HPE_HEADER_OVERFLOW")).toEqual([
    "HTTP/1.1 431 Request Header Fields Too Large",
    "headers_too_large",
  ]);
  expect(await answerTo("HPE_INVALID_METHOD")).toEqual(["HTTP/1.1 400 Bad Request", null]);
});
