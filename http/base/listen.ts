import { once } from "node:events";
import { createServer, type AddressInfo, type ListenOptions, type Server } from "node:net";
import type { App } from "./app.ts";

/**
 * Node accepts one connection of a socket in each round of the event loop, and a busy loop makes a few hundred rounds a second: one socket
 * alone would accept fewer connections than arrive, and clients would see the system reset them (docs/adr/0063-a-port-has-several-sockets.md).
 */
const SOCKETS = 16;
/** Connections that wait in the queue of one socket; the system may allow fewer. */
const BACKLOG = 4_096;
/** Elsewhere a port has one socket. */
const CAN_SHARE = process.platform === "linux";

async function open(server: Server, options: ListenOptions): Promise<AddressInfo> {
  server.listen(options);
  await once(server, "listening");
  return server.address() as AddressInfo;
}

/** Resolves when its last connection has ended. */
const close = (server: Server): Promise<unknown> => new Promise((resolve) => server.close(resolve));

/** The port, if nobody else listens there: sockets that share a port would not notice. Throws EADDRINUSE. */
async function findPort(options: ListenOptions): Promise<number> {
  const probe = createServer();
  const { port } = await open(probe, options);
  await close(probe);
  return port;
}

/** Further sockets of the port, whose connections the app's server serves; they close with it. */
function addSockets(app: App): (options: ListenOptions) => Promise<unknown> {
  const further = Array.from({ length: SOCKETS - 1 }, () =>
    createServer({ allowHalfOpen: true, noDelay: true }, (socket) => app.server.emit("connection", socket)),
  );
  let closed: Promise<unknown> | undefined;
  app.addHook("preClose", (done) => {
    closed = Promise.all(further.map(close));
    done();
  });
  app.addHook("onClose", async () => void (await closed));
  return (options) => Promise.all(further.map((server) => open(server, options)));
}

/** Resolves with the address when the app listens. Throws EADDRINUSE. */
export async function listen(app: App, { port, host }: { port: number; host: string }): Promise<AddressInfo> {
  if (!CAN_SHARE) {
    await app.listen({ port, host, backlog: BACKLOG });
    return app.server.address() as AddressInfo;
  }
  const options = { port: await findPort({ port, host }), host, backlog: BACKLOG, reusePort: true };
  const addTo = addSockets(app);
  await app.listen(options);
  await addTo(options);
  return app.server.address() as AddressInfo;
}
