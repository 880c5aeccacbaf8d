import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { parsed, raw } from "./raw.ts";
import { clientOf, startService } from "./service.ts";

const service = await startService();
const call = clientOf(service, service.credentials.api_key);

const shape = (code?: string) => ({
  error: { message: expect.any(String), type: expect.any(String), param: null, code: code ?? null },
});

describe("a body that is too large", () => {
  test("gets an answer while an ordinary client is still sending it, and its connection is not reset", async () => {
    const chunk = Buffer.alloc(256 * 1024, "x");
    const errors: Error[] = [];
    const send = async () => {
      const headers = { "content-type": "application/json", "content-length": chunk.length * 48 };
      const asked = request(`${service.base}/api/auth/login`, { method: "POST", headers });
      asked.on("error", (error) => errors.push(error));
      const closed = once(asked, "close");
      const answer = new Promise<IncomingMessage>((resolve) => asked.once("response", resolve));
      for (let n = 0; n < 48; n++) asked.write(chunk);
      asked.end();
      const response = await Promise.race([answer, closed]);
      const told = "statusCode" in response ? [response.statusCode, JSON.parse(await text(response))] : [];
      await closed;
      return told;
    };
    for (let n = 0; n < 10; n++) expect(await send()).toEqual([413, shape("request_too_large")]);
    expect(errors).toEqual([]);
  });
});

describe("a request with invalid HTTP", () => {
  test.each([
    ["both lengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["two lengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello"],
    ["an odd coding", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"],
    ["a space before the colon", "GET / HTTP/1.1\r\nHost : x\r\n\r\n"],
    ["no host", "GET /healthz HTTP/1.1\r\n\r\n"],
    ["an odd method", "FROB / HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["a broken chunk", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"],
    ["no HTTP at all", "hello\r\n\r\n"],
  ])("gets a 400 in the spec's shape: %s", async (_name, bytes) => {
    const answer = parsed(await raw(service.base, bytes));
    expect(answer).toEqual({ status: 400, body: shape() });
  });

  test("gets a 431 for huge headers", async () => {
    const answer = parsed(await raw(service.base, `GET / HTTP/1.1\r\nHost: x\r\nX-Big: ${"a".repeat(40_000)}\r\n\r\n`));
    expect(answer).toEqual({ status: 431, body: shape("headers_too_large") });
  });

  test("gets a 417 for an unknown expectation", async () => {
    const bytes = "POST / HTTP/1.1\r\nHost: x\r\nExpect: a-miracle\r\nContent-Length: 0\r\n\r\n";
    const answer = await raw(service.base, bytes);
    expect(answer).toContain(" 417 ");
    expect(answer).toContain('"error"');
  });

  test("may have a header named __proto__ without effect", async () => {
    const answer = await raw(
      service.base,
      "GET /healthz HTTP/1.1\r\nHost: x\r\n__proto__: 1\r\nConnection: close\r\n\r\n",
    );
    expect(answer).toContain("200 OK");
  });
});

describe("a path without a route", () => {
  test.each(["/nowhere", "/api/openai/v1/nowhere", "/%zz", "/api/openai/v1/files/%zz", `/${"a".repeat(3_000)}`])(
    "gets an error in the spec's shape: %s",
    async (path) => {
      const { status, body, headers } = await call("GET", service.base + path);
      expect([400, 404]).toContain(status);
      expect(body.error).toMatchObject({ type: expect.any(String), message: expect.any(String), param: null });
      expect(headers.get("x-request-id")).toBeTruthy();
    },
  );

  test.each(["responses", "embeddings", "conversations", "uploads"])(
    "gets an error with the correct path: /%s",
    async (name) => {
      const { status, body } = await call("POST", `/${name}`, {});
      expect([status, body.error.code]).toEqual([404, "not_found"]);
      expect(body.error.message).toContain("/api/");
    },
  );
});

test.each(["/nowhere", `/api/workflows/approval-links/${newId()}/decision`])(
  "a stranger's POST to %s is answered before its body has arrived",
  async (path) => {
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const { status } = parsed(await raw(service.base, `${head}5\r\n{"a":\r\n`));
    expect(status).toBe(404);
  },
);

describe("a credential", () => {
  const models = async (authorization?: string) => {
    const response = await fetch(`${service.chat}/models`, {
      headers: authorization === undefined ? {} : { authorization },
    });
    return [response.status, ((await response.json()) as any).error?.code];
  };

  test("is required, and must be known", async () => {
    expect(await models()).toEqual([401, "missing_api_key"]);
    for (const wrong of ["Bearer", "Bearer x", "Basic eDp5", `Bearer sk-svc-${"x".repeat(4096)}`, "Bearer sk-svc-é"])
      expect(await models(wrong)).toEqual([401, "invalid_api_key"]);
    expect(await models("Bearer sess-svc-nothing")).toEqual([401, "invalid_session"]);
    expect(await models(`bearer ${service.credentials.api_key}`)).toEqual([200, undefined]);
  });

  test("is refused in two Authorization headers", async () => {
    const header = `Authorization: Bearer ${service.credentials.api_key}\r\n`;
    const answer = parsed(
      await raw(
        service.base,
        `GET /api/openai/v1/models HTTP/1.1\r\nHost: x\r\n${header}${header}Connection: close\r\n\r\n`,
      ),
    );
    expect([answer.status, answer.body.error.code]).toEqual([401, "invalid_api_key"]);
  });
});

describe("the API description", () => {
  test("and health, readiness and metrics need no credential", async () => {
    for (const path of ["/healthz", "/readyz", "/metrics"]) {
      expect((await fetch(service.base + path)).status).toBe(200);
      expect((await fetch(service.base + path, { method: "HEAD" })).status).toBe(200);
    }
    const { checks } = (await (await fetch(`${service.base}/readyz`)).json()) as any;
    expect(Object.keys(checks)).toContain("projection turns");
    const metrics = await (await fetch(`${service.base}/metrics`)).text();
    expect(metrics).toMatch(/dependency_up\{name="postgres"\} 1/);
    expect(metrics).toMatch(/follower_lag_events\{name="projection turns"\} \d+/);
  });

  test("covers every route in OpenAPI 3.1", async () => {
    const document = (await (await fetch(`${service.base}/openapi.json`)).json()) as any;
    expect(document.openapi).toBe("3.1.0");
    expect(Object.keys(document.paths)).toEqual(
      expect.arrayContaining([
        "/api/openai/v1/chat/completions",
        "/api/openai/v1/files",
        "/api/keys",
        "/api/auth/login",
        "/api/providers/{name}",
      ]),
    );
    const { schema } = document.paths["/api/openai/v1/chat/completions"].post.requestBody.content["application/json"];
    expect(schema).toEqual({ $ref: "#/components/schemas/ChatCompletionRequest" });
    expect(document.components.schemas.ChatCompletionRequest.required).toEqual(["model", "messages"]);
  });

  test("has a reference page without external assets", async () => {
    const page = await (await fetch(`${service.base}/reference`)).text();
    expect(page).toContain("swagger-ui");
    expect(page).not.toMatch(/(src|href)="(https?:)?\/\//);
  });
});
