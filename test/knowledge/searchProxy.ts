import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { afterAll } from "vitest";

const left: (() => void)[] = [];
afterAll(() => {
  for (const close of left) close();
});

type State = "open" | "refusing" | "silent";

/** The way to Meilisearch: open, refusing every connection, or silent, which takes what is sent and never answers. */
export async function startSearchProxy(url: string) {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let state: State = "open";
  const keep = (socket: Socket) => {
    sockets.add(socket.on("error", () => socket.destroy()).on("close", () => sockets.delete(socket)));
    return socket;
  };
  const server = createServer((client) => {
    keep(client);
    if (state === "refusing") return client.destroy();
    if (state === "silent") return client.resume();
    const meili = keep(connect(Number(port), hostname));
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
  left.push(() => {
    set("refusing");
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, set };
}
