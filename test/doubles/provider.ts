import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { reply, type Reply } from "./providerReply.ts";

export type { Reply } from "./providerReply.ts";

export interface SeenRequest {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  /** The parsed JSON body; undefined when there is none. */
  body: any;
  /** The same for requests on the same connection. */
  connection: number;
}

/** How the provider answers; undefined: like a real one that repeats what the user said last. */
export type Script = (request: SeenRequest) => Reply | undefined;

export interface Provider {
  /** Base URL, with `/v1`. */
  url: string;
  /** The last 1,000 requests, oldest first. */
  requests: SeenRequest[];
  script(script: Script | Reply): void;
  close(): Promise<void>;
}

const MODELS = ["gpt-test", "gpt-other"];
const KEPT = 1_000;

async function bodyOf(request: IncomingMessage): Promise<any> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString("utf8"));
}

const send = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
};

const modelList = {
  object: "list",
  data: MODELS.map((id) => ({ id, object: "model", created: 1_700_000_000, owned_by: "test" })),
};

/** A provider on a loopback port that speaks OpenAI's chat completions API: `GET /v1/models`, `POST /v1/chat/completions`. */
export async function startProvider(): Promise<Provider> {
  const requests: SeenRequest[] = [];
  let script: Script = () => undefined;

  const answer = async (incoming: IncomingMessage, response: ServerResponse) => {
    const { method = "", url: path = "", headers } = incoming;
    const body = await bodyOf(incoming);
    const request = { method, path, headers, body, connection: incoming.socket.remotePort ?? 0 };
    requests.push(request);
    if (requests.length > KEPT) requests.shift();
    const scripted = script(request);
    if (scripted) return reply(scripted, request, response);
    if (method === "GET" && path === "/v1/models") return send(response, 200, modelList);
    if (method === "POST" && path === "/v1/chat/completions") return reply({}, request, response);
    return send(response, 404, {
      error: { message: `Invalid URL (${method} ${path})`, type: "invalid_request_error", param: null, code: null },
    });
  };

  const server = createServer((incoming, response) => {
    answer(incoming, response).catch(() => response.destroy());
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    script: (next) => (script = typeof next === "function" ? next : () => next),
    close: () => {
      server.closeAllConnections();
      return new Promise((closed) => server.close(() => closed()));
    },
  };
}
