import { once } from "node:events";
import { createServer, type AddressInfo, type ListenOptions, type Server } from "node:net";
import type { App } from "./app.ts";

/**
 * Node accepts one connection per socket in each round of the event loop, and a busy loop makes a few hundred rounds a second. A
 * single socket would accept fewer connections than arrive, and the system would reset the others
 * (docs/adr/0063-a-port-has-several-sockets.md).
 */
const SOCKETS = 16;
/** Connections waiting in the queue of one socket. The system may allow fewer. */
const BACKLOG = 4_096;
/** Other systems do not let sockets share a port. */
const CAN_SHARE = process.platform === "linux";

async function open(server: Server, options: ListenOptions): Promise<AddressInfo> {
  server.listen(options);
  await once(server, "listening");
  return server.address() as AddressInfo;
}

/** Resolves when the server's last connection has ended. */
const close = (server: Server): Promise<unknown> => new Promise((resolve) => server.close(resolve));

/** Checks that nobody else listens on the port: sockets that share it would not notice. Returns the port. Throws EADDRINUSE. */
async function findPort(options: ListenOptions): Promise<number> {
  const probe = createServer();
  const { port } = await open(probe, options);
  await close(probe);
  return port;
}

/** Adds sockets on the same port. The app's server handles their connections, and they close with it. */
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

/** Starts to listen and returns the address. Throws EADDRINUSE. */
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
