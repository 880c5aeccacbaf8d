import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";

/** Accepts connections and never answers, like a stopped process. */
export async function startMute() {
  const open = new Set<Socket>();
  const server = createServer((socket) => void open.add(socket.on("error", () => {}))).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: (): void => {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}
