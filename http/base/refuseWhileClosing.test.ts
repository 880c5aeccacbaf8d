import { once } from "node:events";
import { connect, type AddressInfo } from "node:net";
import fastify from "fastify";
import { expect, test } from "vitest";
import { errorBody, errorHeaders, type ApiError } from "./errors.ts";
import { refuseWhileClosing } from "./refuseWhileClosing.ts";

test("a process that shuts down refuses new requests on open connections with Retry-After, and answers open requests", async () => {
  const app = fastify({ return503OnClosing: false });
  app.setErrorHandler<ApiError>((error, _request, reply) =>
    reply.code(error.status).headers(errorHeaders(error)).send(errorBody(error, false)),
  );
  refuseWhileClosing(app);
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
  app.get("/slow", () => (begun.resolve(), end.promise));
  const seen = Promise.withResolvers<void>();
  app.addHook("onError", async () => seen.resolve());
  app.get("/", () => (seen.resolve(), "served"));
  await app.listen({ port: 0, host: "127.0.0.1" });
  const socket = connect((app.server.address() as AddressInfo).port, "127.0.0.1");
  let heard = "";
  socket.on("data", (bytes) => void (heard += bytes.toString()));
  socket.write("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  await begun.promise;
  const closed = app.close();
  await new Promise(setImmediate);
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await seen.promise;
  end.resolve("slow answer");
  await Promise.all([once(socket, "close"), closed]);
  const [first, second] = heard.split(/(?=HTTP\/1\.1)/);
  expect(first).toMatch(/^HTTP\/1\.1 200 [^]*slow answer$/);
  expect(second).toMatch(/^HTTP\/1\.1 503 [^]*retry-after: \d+\r\n[^]*"code":"unavailable"/i);
});
