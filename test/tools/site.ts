import { createServer, type RequestListener } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

/** A server on a loopback port; `paths` lists the paths of its requests. */
export async function openSite(listener: RequestListener) {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url!);
    listener(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    url: `http://${host}`,
    paths,
    close(): void {
      server.closeAllConnections();
      server.close();
    },
  };
}
export type Site = Awaited<ReturnType<typeof openSite>>;
