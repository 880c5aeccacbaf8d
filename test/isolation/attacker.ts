import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Credentials } from "../../cli/organization.ts";
import type { IsolatedDeployment } from "./deployment.ts";

export interface Answer {
  status: number;
  body: any;
  /** The thread of a turn. */
  thread?: string | null;
}

/** An organization that means harm: its key, its signed-in owner, and bare sockets. */
export type Attacker = Awaited<ReturnType<typeof openAttacker>>;

export async function openAttacker({ url, port }: IsolatedDeployment, credentials: Credentials) {
  let names = 0;
  const sockets: Socket[] = [];
  let token = "";

  async function send(
    method: string,
    path: string,
    body?: unknown,
    options: { as?: "key" | "owner"; headers?: Record<string, string>; signal?: AbortSignal } = {},
  ): Promise<Answer> {
    const isForm = body instanceof FormData;
    const isReady = isForm || typeof body === "string" || body instanceof Uint8Array;
    const credential = options.as === "owner" ? token : credentials.api_key;
    const response = await fetch(path.startsWith("http") ? path : url + path, {
      method,
      signal: options.signal ?? null,
      headers: {
        authorization: `Bearer ${credential}`,
        ...(body === undefined || isForm ? {} : { "content-type": "application/json" }),
        ...options.headers,
      },
      ...(body !== undefined && { body: isReady ? (body as NonNullable<RequestInit["body"]>) : JSON.stringify(body) }),
    }).catch(() => undefined);
    const text = (await response?.text().catch(() => "")) ?? "";
    return { status: response?.status ?? 0, body: parse(text), thread: response?.headers.get("x-thread-id") ?? null };
  }

  const owner = (method: string, path: string, body?: unknown) => send(method, path, body, { as: "owner" });
  async function create(path: string, body: unknown): Promise<any> {
    const { status, body: created } = await owner("POST", path, body);
    if (status !== 201) throw new Error(`POST ${path}: ${status} ${JSON.stringify(created)}`);
    return created;
  }

  const { body: login } = await send("POST", "/api/auth/login", credentials.admin);
  token = login.token;

  return {
    url,
    port,
    api_key: credentials.api_key,
    organization_id: credentials.organization_id,
    /** What the operator has given to its own service, where each process has its own NATS user: one that reads its events. */
    feed: undefined as { url: string } | undefined,
    agent_id: credentials.agent_id,
    send,
    owner,
    create,
    /** One turn; `more` overrides the request. */
    turn: (content: unknown, more: object = {}) =>
      send("POST", "/api/openai/v1/chat/completions", {
        model: "offline/echo",
        messages: [{ role: "user", content }],
        ...more,
      }),
    /** Saves, registers and triggers a workflow; answers where its hook is and with which secret. */
    async hook(source: string): Promise<{ url: string; headers: Record<string, string> }> {
      const definition = await create("/api/definitions", { type: "workflow", name: `attack_${names++}`, source });
      const workflow = await create("/api/workflows", { definition_id: definition.id });
      const trigger = await create(`/api/workflows/${workflow.id}/triggers`, {});
      const path = new URL(trigger.hook_url).pathname;
      return { url: url + path, headers: { authorization: `Bearer ${trigger.secret}` } };
    },
    /** A new collection, and a way to upload files into it. */
    async collection(name: string) {
      const { body } = await send("POST", "/api/v1/knowledge/collections", { name: `${name} ${names++}` });
      const upload = (content: string | Uint8Array<ArrayBuffer>, file: string) => {
        const form = new FormData();
        form.append("file", new Blob([content]), file);
        return send("POST", `/api/v1/knowledge/collections/${body.slug}/documents`, form);
      };
      return { slug: body.slug as string, upload };
    },
    /** Resolves when a document is read and can be found, or has failed. */
    async whenRead(document: string): Promise<void> {
      const isOpen = async () => {
        const { body } = await send("GET", `/api/v1/knowledge/documents/${document}`);
        return body.status !== "ready" && body.status !== "failed";
      };
      while (await isOpen()) await sleep(100);
    },
    /** A bare connection that has sent these bytes. */
    open(bytes: string): Socket {
      const socket = connect(port, "127.0.0.1");
      sockets.push(socket);
      socket.on("error", () => socket.destroy());
      socket.resume();
      socket.write(bytes);
      return socket;
    },
    closeSockets: () => sockets.splice(0).forEach((socket) => socket.destroy()),
  };
}

function parse(text: string): any {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
