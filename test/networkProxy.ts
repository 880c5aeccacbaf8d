import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/**
 * What the network does to bytes: `open` passes them, `dropped` loses them without a word in both directions, `deaf` loses
 * those of the server, `mute` those of the client.
 */
export type Path = "open" | "dropped" | "deaf" | "mute";

interface Link {
  path: Path;
  client: Socket;
  server: Socket;
}

/** Writes what arrives after a latency, in order even when the latency changes. */
function createDelay(latency: () => number, write: (bytes: Buffer) => void) {
  const queue: { due: number; bytes: Buffer }[] = [];
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    timer = undefined;
    while (queue[0] && queue[0].due <= performance.now()) write(queue.shift()!.bytes);
    if (queue[0]) timer = setTimeout(flush, Math.max(1, queue[0].due - performance.now()));
  };
  return (bytes: Buffer): void => {
    queue.push({ due: Math.max(performance.now() + latency(), queue.at(-1)?.due ?? 0), bytes });
    if (!timer) flush();
  };
}

/** A TCP proxy on loopback that cuts, drops, delays or half-opens connections to a server. Its owner closes it. */
export async function openNetworkProxy(target: { host: string; port: number }) {
  const links = new Set<Link>();
  let fresh: Path | "refused" = "open";
  let latency = () => 0;

  const pass = (link: Link, from: Socket, to: Socket, lostIn: Path) => {
    const isLost = () => link.path === "dropped" || link.path === lostIn;
    const forward = createDelay(
      () => latency(),
      (bytes) => void (!isLost() && to.writable && to.write(bytes)),
    );
    from.on("data", forward);
  };

  const proxy = createServer((client) => {
    if (fresh === "refused") return void client.destroy();
    const server = connect(target.port, target.host);
    const link: Link = { path: fresh, client, server };
    links.add(link);
    pass(link, client, server, "mute");
    pass(link, server, client, "deaf");
    // the end of a connection is lost like its bytes
    const end = (other: Socket) => () => {
      if (link.path !== "open") return;
      links.delete(link);
      other.destroySoon();
    };
    client.on("error", () => {}).on("close", end(server));
    server.on("error", () => {}).on("close", end(client));
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");

  const reset = () => {
    for (const { client, server } of links) {
      client.resetAndDestroy();
      server.resetAndDestroy();
    }
    links.clear();
  };
  return {
    port: (proxy.address() as AddressInfo).port,
    /** How many connections are open. */
    count: () => links.size,
    /** The connections of this moment behave like this from now on; later ones are not affected. */
    setCurrent: (path: Path) => links.forEach((link) => void (link.path = path)),
    /** Later connections behave like this. */
    setFresh: (path: Path | "refused") => void (fresh = path),
    /** All connections, now and later. */
    setAll(path: Path) {
      fresh = path;
      links.forEach((link) => void (link.path = path));
    },
    /** Ends lost connections at the server, as its keepalive would later. Their clients do not notice. */
    endLost() {
      for (const link of links) {
        if (link.path === "open") continue;
        links.delete(link);
        link.server.destroy();
      }
    },
    /** `ms` is called for each piece. */
    delay: (ms: () => number) => void (latency = ms),
    reset,
    close() {
      fresh = "refused";
      reset();
      proxy.close();
    },
  };
}
export type NetworkProxy = Awaited<ReturnType<typeof openNetworkProxy>>;

/** The address of a server, through a proxy. */
export function throughProxy(address: string, port: number): string {
  const url = new URL(address);
  url.hostname = "127.0.0.1";
  url.port = String(port);
  return url.href;
}
