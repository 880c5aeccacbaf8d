import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { parsed } from "./raw.ts";
import { startService } from "./service.ts";

/* Node measures the time of requests by the real clock. */

const SECONDS = 130;
const CHUNK = 20_000;

test("after two minutes, a sign-in that trickles in is refused, and an upload at 20 KB/s goes on", async () => {
  const { chat, credentials } = await startService();
  const { hostname, port, pathname } = new URL(chat);
  function open(head: string[]): { socket: Socket; answer: Promise<{ status: number; body: any }> } {
    const socket = connect(Number(port), hostname).setEncoding("utf8");
    onTestFinished(() => void socket.destroy());
    let text = "";
    socket.on("data", (piece: string) => (text += piece)).on("error", () => {});
    socket.write(`${[...head, `Host: ${hostname}`, "Connection: close"].join("\r\n")}\r\n\r\n`);
    return { socket, answer: once(socket, "close").then(() => parsed(text)) };
  }
  const form = ["--b\r\nContent-Disposition: form-data; name=file; filename=a.txt\r\n\r\n", "\r\n--b--\r\n"];
  const length = form.join("").length + SECONDS * CHUNK;
  const upload = open([
    `POST ${pathname}/files HTTP/1.1`,
    `Authorization: Bearer ${credentials.api_key}`,
    "Content-Type: multipart/form-data; boundary=b",
    `Content-Length: ${length}`,
  ]);
  const signIn = open(["POST /api/auth/login HTTP/1.1", "Content-Type: application/json", "Content-Length: 1000"]);
  const began = performance.now();
  const refused = signIn.answer.then((answer) => ({ ...answer, after: performance.now() - began }));
  upload.socket.write(form[0]!);
  for (let second = 0; second < SECONDS; second++) {
    upload.socket.write(Buffer.alloc(CHUNK, "a"));
    if (!signIn.socket.destroyed) signIn.socket.write(" ");
    await sleep(1_000);
  }
  upload.socket.write(form[1]!);
  expect(await upload.answer).toMatchObject({ status: 201, body: { bytes: SECONDS * CHUNK } });
  const { status, body, after } = await refused;
  expect([status, body.error.code]).toEqual([408, "request_timeout"]);
  expect(after).toBeGreaterThan(120_000);
});
