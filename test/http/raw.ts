import { connect } from "node:net";
import { once } from "node:events";

/** Sends raw bytes, and returns everything that arrives until the server closes the connection or `ms` pass. */
export async function raw(base: string, bytes: string, ms = 3_000): Promise<string> {
  const { hostname, port } = new URL(base);
  const socket = connect(Number(port), hostname);
  const received: string[] = [];
  socket.setEncoding("utf8").on("data", (chunk: string) => received.push(chunk));
  socket.on("error", () => socket.destroy());
  const timer = setTimeout(() => socket.destroy(), ms);
  socket.write(bytes);
  await once(socket, "close");
  clearTimeout(timer);
  return received.join("");
}

/** The status and parsed body of a raw answer. */
export function parsed(answer: string): { status: number; body: any } {
  const [head = "", body = ""] = answer.split("\r\n\r\n", 2);
  return { status: Number(head.split(" ")[1]), body: body ? JSON.parse(body) : undefined };
}
