import { connect } from "node:net";

/**
 * Resolves when a NATS server sends its greeting, which it does once its streams are recovered. Rejects after the timeout: a
 * hanging server accepts connections but does not greet.
 */
export async function waitForGreeting(host: string, port: number, timeout_ms: number): Promise<void> {
  const socket = connect({ host, port, timeout: timeout_ms });
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once("data", () => resolve()).once("error", reject);
      socket.once("close", () => reject(new Error("closed without a greeting")));
      socket.once("timeout", () => reject(new Error("no greeting in time")));
    });
  } finally {
    socket.destroy();
  }
}
