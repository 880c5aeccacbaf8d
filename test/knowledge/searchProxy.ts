import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { atEnd, type Lifetime } from "../cleanUp.ts";

type State = "open" | "refusing" | "silent";

/** A proxy to Meilisearch that is open, refuses every connection, or is silent: it accepts requests and never answers. */
export async function startSearchProxy(url: string, lifetime: Lifetime = "file") {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let state: State = "open";
  const track = (socket: Socket) => {
    sockets.add(socket.on("error", () => socket.destroy()).on("close", () => sockets.delete(socket)));
    return socket;
  };
  const server = createServer((client) => {
    track(client);
    if (state === "refusing") return client.destroy();
    if (state === "silent") return client.resume();
    const meili = track(connect(Number(port), hostname));
    client.pipe(meili).pipe(client);
    client.on("close", () => meili.destroy());
    meili.on("close", () => client.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const set = (next: State) => {
    state = next;
    for (const socket of sockets) socket.destroy();
  };
  atEnd(lifetime, () => {
    set("refusing");
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, set };
}
