import { randomInt } from "node:crypto";
import { createServer } from "node:net";

const isFree = (port: number) =>
  new Promise<boolean>((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)));
  });

/**
 * A free port on loopback, outside the range of outgoing connections. In that range, a client that reconnects in a loop while the
 * server is down can connect to its own socket and then occupy the server's port.
 */
export const freePort = async () => {
  for (let attempt = 0; attempt < 200; attempt++) {
    const port = randomInt(20_000, 32_000);
    if (await isFree(port)) return port;
  }
  throw new Error("No free port between 20000 and 32000 on 127.0.0.1: stop a program that listens there.");
};
