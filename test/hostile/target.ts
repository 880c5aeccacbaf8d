import { randomUUID } from "node:crypto";
import { connect, type Socket } from "node:net";
import { afterAll, expect } from "vitest";
import { clientOf, say, UNKNOWN } from "../http/service.ts";
import { openPlatform } from "../sharedPlatform.ts";

export { say, UNKNOWN };

export type Target = Awaited<ReturnType<typeof startTarget>>;

export type TargetAnswer = Awaited<ReturnType<ReturnType<typeof clientOf>>>;

/**
 * A platform that tests attack with the key of one organization. It is well if a chat is answered, no stream is parked, no command
 * became a dead letter, and prototypes are unchanged.
 */
export async function startTarget(env?: Record<string, string>) {
  const { platform } = await openPlatform(env);
  const credentials = await platform.organization();
  const { api_key } = credentials;
  const chat = `${platform.url}/api/openai/v1`;
  const { hostname, port } = new URL(platform.url);

  const send = clientOf({ chat }, api_key);
  const complete = (body: unknown, headers?: Record<string, string>) =>
    send("POST", "/chat/completions", body, headers);

  /** Opens a raw connection. `received`: the bytes so far, as text; `closed`: resolves when the other side closes it. */
  function open(bytes: string | Buffer) {
    const socket: Socket = connect(Number(port), hostname);
    let received = "";
    socket.on("data", (chunk: Buffer) => (received += chunk.toString("latin1"))).on("error", () => socket.destroy());
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.write(bytes);
    return { socket, received: () => received, closed };
  }

  /** Sends bytes and returns all that came back until the other side closed. */
  async function raw(bytes: string | Buffer): Promise<string> {
    const connection = open(bytes);
    await connection.closed;
    return connection.received();
  }

  /** The head of a request with a valid key. */
  const head = (line: string, ...headers: string[]) =>
    [`${line} HTTP/1.1`, `Host: ${hostname}:${port}`, `Authorization: Bearer ${api_key}`, ...headers, "", ""].join(
      "\r\n",
    );

  async function isWell(): Promise<void> {
    const words = `still here ${randomUUID()}`;
    const { status, body } = await complete(say(words));
    expect([status, body?.choices[0].message.content]).toEqual([200, words]);
    const { db, bus } = platform.resources;
    expect(await db.query("select projection, stream, error from log.parked", [])).toEqual([]);
    expect(await bus.deadLetters.list(1)).toEqual([]);
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(Reflect.ownKeys(Object.prototype).length).toBe(PROTOTYPE_KEYS);
  }

  return { platform, credentials, api_key, chat, send, complete, open, raw, head, isWell };
}

const PROTOTYPE_KEYS = Reflect.ownKeys(Object.prototype).length;

/** Expects a refusal in the spec's shape; `code` undefined: the body has null. */
export function expectRefusal(
  { status, body, headers }: TargetAnswer,
  wanted: number,
  code: string | undefined,
  param?: string | null,
) {
  expect([status, body?.error?.code]).toEqual([wanted, code ?? null]);
  expect(Object.keys(body)).toEqual(["error"]);
  expect({ param: null, ...body.error }).toEqual({
    message: expect.stringMatching(/\S/),
    type: expect.stringMatching(/_error$/),
    param: param === undefined ? expect.toSatisfy((value) => value === null || typeof value === "string") : param,
    code: code ?? null,
  });
  expect(headers.get("content-type")).toContain("application/json");
  expect(headers.get("x-request-id")).toBeTruthy();
}

/** The status and body of a raw answer; undefined if the connection was closed without one. */
export function parsed(received: string): { status: number; body: any } | undefined {
  if (received === "") return undefined;
  const [head = "", body = ""] = received.split("\r\n\r\n", 2);
  return { status: Number(head.split(" ")[1]), body: body ? JSON.parse(body) : undefined };
}

/** The platform is well after the file, or after each test (`afterEach`), where tests exhaust something that the next ones need. */
export const leavesWell = (target: () => Target, after: (check: () => Promise<void>) => void = afterAll) =>
  after(() => target().isWell());
