import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** A round-robin TCP balancer: each connection goes to the next server that accepts it. */
export async function startBalancer(servers: () => string[]) {
  let turn = 0;
  const open = new Set<Socket>();

  const dial = async (): Promise<Socket | undefined> => {
    const urls = servers();
    for (let n = 0; n < urls.length; n += 1) {
      const { hostname, port } = new URL(urls[(turn += 1) % urls.length]!);
      const socket = connect({ host: hostname, port: Number(port) });
      const connected = await once(socket, "connect").then(
        () => true,
        () => false,
      );
      if (connected) return socket;
    }
    return undefined;
  };
  const join = async (client: Socket): Promise<void> => {
    client.on("error", () => {});
    const behind = await dial();
    if (!behind) return void client.destroy();
    for (const [from, to] of [
      [client, behind],
      [behind, client],
    ] as const) {
      open.add(from);
      from.on("error", () => {});
      from.once("close", () => {
        open.delete(from);
        // flushes what was received before the close
        to.end();
        to.destroySoon();
      });
      from.pipe(to);
    }
  };
  const server = createServer((client) => void join(client));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
