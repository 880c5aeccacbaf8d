import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { testFolder } from "#test/harness.ts";

const main = fileURLToPath(new URL("../main.ts", import.meta.url));

/** A PostgreSQL server that refuses TLS. */
async function startWithoutTls(): Promise<string> {
  const server = createServer((socket) => socket.on("error", () => {}).once("data", () => socket.end("N")));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("a start that PostgreSQL refuses says at once why, and ends when it is asked to", async () => {
  const host = await startWithoutTls();
  const child = spawn(process.execPath, [main, "projections"], {
    env: {
      PATH: process.env["PATH"],
      DATA_DIR: await testFolder(),
      DATABASE_URL: `postgres://svc:hidden@${host}/svc?sslmode=require`,
      NATS_URL: "nats://127.0.0.1:1",
      MEILI_URL: "http://127.0.0.1:1",
      MEILI_MASTER_KEY: "hidden",
      MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = once(child, "exit");
  let output = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
  await expect
    .poll(() => output)
    .toContain(
      `PostgreSQL at ${host} cannot be used (The server does not support SSL connections): trying again, for a minute at most.\n`,
    );
  expect(output).not.toContain("hidden");
  child.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
});
