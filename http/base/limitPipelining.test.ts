import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { limitPipelining } from "./limitPipelining.ts";

const REQUEST = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

/** Connects to a server with this handler. `onParsed` is called for each request that the parser delivers. */
async function open(handle: RequestListener, onParsed: () => void = () => {}) {
  const server = createServer(handle);
  limitPipelining(server);
  server.prependListener("request", onParsed);
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  return socket;
}

test("a connection that pipelines too many requests is closed, and its remaining requests are not read", async () => {
  let [handled, parsed] = [0, 0];
  const socket = await open(
    () => handled++,
    () => parsed++,
  );
  socket.on("error", () => {});
  socket.resume().write(REQUEST.repeat(1_000));
  await once(socket, "close");
  expect([handled, parsed]).toEqual([16, 17]);
});

test("a connection that waits for answers may send any number of requests, up to 16 at a time", async () => {
  const socket = await open((_, response) => response.end("ok"));
  for (let n = 0; n < 5; n++) {
    socket.write(REQUEST.repeat(16));
    for (let answers = 0; answers < 16; ) {
      const [bytes] = await once(socket, "data");
      answers += String(bytes).split("HTTP/1.1 200").length - 1;
    }
  }
  expect(socket.destroyed).toBe(false);
});
