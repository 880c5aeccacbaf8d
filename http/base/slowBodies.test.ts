import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { answerBadRequest } from "./parserErrors.ts";
import { MIN_BYTES, refuseSlowBodies } from "./slowBodies.ts";

const INTERVAL_MS = 50;

/** Begins a request of 1 MB to a server that waits 100 ms for bodies, and answers with their size. */
async function begin(): Promise<{ socket: Socket; answer: Promise<string> }> {
  const server = createServer((request, response) => {
    let bytes = 0;
    request.on("data", (chunk: Buffer) => (bytes += chunk.length));
    request.on("end", () => response.end(String(bytes)));
  });
  server.on("clientError", answerBadRequest);
  refuseSlowBodies(server, 2 * INTERVAL_MS, INTERVAL_MS);
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  // the server closes the connection of a refused request while it is written
  socket.on("error", () => {});
  socket.write("POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1000000\r\n\r\n");
  const answer = (async () => {
    let text = "";
    for await (const chunk of socket.setEncoding("utf8")) text += chunk;
    return text;
  })();
  return { socket, answer };
}

test("a request that arrives for longer than the usual time is answered if enough of it keeps coming", async () => {
  const { socket, answer } = await begin();
  for (let sent = 0; sent < 1_000_000; sent += 50_000) {
    socket.write(Buffer.alloc(50_000));
    await sleep(INTERVAL_MS / 4);
  }
  expect(await answer).toMatch(/^HTTP\/1.1 200 [^]*1000000/);
});

test("a request of which little comes is refused after the usual time", async () => {
  const { socket, answer } = await begin();
  const trickle = setInterval(() => socket.write(Buffer.alloc(MIN_BYTES / 100)), INTERVAL_MS / 4);
  onTestFinished(() => clearInterval(trickle));
  expect(await answer).toMatch(/^HTTP\/1.1 408 Request Timeout[^]*request_timeout/);
});
