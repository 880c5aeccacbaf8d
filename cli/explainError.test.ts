import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { explainError } from "./explainError.ts";

/** The error of a server that cannot listen there. */
async function refusal(port: number, host: string): Promise<unknown> {
  const server = createServer().listen(port, host);
  return once(server, "listening").catch((error: unknown) => error);
}

test("an address or a port on which the service cannot listen is named with its setting", async () => {
  // reserved for documentation (RFC 5737)
  expect(explainError(await refusal(0, "192.0.2.1"))).toBe(
    "This machine has no address 192.0.2.1: set HOST to one that it has, or to 0.0.0.0 for all of them.",
  );
  const reserved = Object.assign(new Error("listen EACCES"), { code: "EACCES", syscall: "listen", port: 80 });
  expect(explainError(reserved)).toBe("Port 80 is reserved for the administrator: set PORT to 1024 or more.");
});
