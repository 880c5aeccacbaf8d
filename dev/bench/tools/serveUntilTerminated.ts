import type { IncomingMessage, Server } from "node:http";

/** Listens on a free port of loopback and prints the address, which the bench reads as the first line. */
export const serveUntilTerminated = (server: Server): void => {
  server.keepAliveTimeout = 60_000;
  server.requestTimeout = 0;
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (address !== null && typeof address === "object") console.log(`http://127.0.0.1:${address.port}`);
  });
  process.on("SIGTERM", () => process.exit());
};

export const readJson = async (request: IncomingMessage): Promise<any> => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString();
  return text === "" ? undefined : JSON.parse(text);
};
