import { setTimeout as sleep } from "node:timers/promises";
import { createServer, connect, type Socket } from "node:net";
import OpenAI from "openai";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Reply } from "../doubles/openai.ts";
import { startDeployment, type Deployment } from "./deployment.ts";

let deployment: Deployment;
const open = (options: ConstructorParameters<typeof OpenAI>[0] = {}) =>
  new OpenAI({ apiKey: deployment.api_key, baseURL: deployment.base_url, maxRetries: 0, ...options });
beforeAll(async () => {
  deployment = await startDeployment();
});
beforeEach(() => deployment.answers());

const model = "openai/gpt-test";
const say = (content: string) => ({ model, messages: [{ role: "user" as const, content }] });
const failure = (work: Promise<unknown>): Promise<any> =>
  work.then(
    () => expect.unreachable("it should have failed"),
    (error: unknown) => error,
  );

/** A whole answer after some time. */
const after = (ms: number, text: string): Reply => ({
  async write(response) {
    await sleep(ms);
    const message = { role: "assistant", content: text };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: "stop" }] }));
  },
});

describe("refusals are the SDK's own errors", () => {
  test("401", async () => {
    const error = await failure(open({ apiKey: "sk-svc-nobody" }).models.list());
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(error).toMatchObject({ status: 401, code: "invalid_api_key", type: "authentication_error" });
    expect(error.requestID).toBeTruthy();
  });

  test("400, with code and param", async () => {
    const error = await failure(open().chat.completions.create({ ...say("x"), model: "openai/gpt-none" }));
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({
      status: 400,
      code: "model_not_found",
      param: "model",
      type: "invalid_request_error",
    });
    const url = "http://127.0.0.1:1/a.png";
    const content = [{ type: "image_url" as const, image_url: { url } }];
    const remote = await failure(open().chat.completions.create({ model, messages: [{ role: "user", content }] }));
    expect(remote).toMatchObject({ code: "invalid_attachment", param: "messages[0].content[0].image_url.url" });
    expect(remote.message).toContain("never fetched");
  });

  test("400 without a code", async () => {
    const error = await failure(
      open().chat.completions.create({ model, messages: [{ role: "system", content: "x" }] }),
    );
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect([error.code, error.param]).toEqual([null, "messages"]);
  });

  test("404", async () => {
    const headers = { "x-thread-id": "01900000-0000-7000-8000-000000000000" };
    const error = await failure(open().chat.completions.create(say("x"), { headers }));
    expect(error).toBeInstanceOf(OpenAI.NotFoundError);
    expect(error).toMatchObject({ status: 404, code: "thread_not_found" });
  });
});

describe("a provider that fails", () => {
  const refused = (status: number) => ({
    status,
    body: { error: { message: "The provider is ill", type: "x", code: "secret_code" } },
  });

  test.each([false, true])("is a 502 that the SDK does not retry (stream: %s)", async (stream) => {
    deployment.answers(refused(500));
    const before = await deployment.count("TurnStarted");
    const error = await failure(open({ maxRetries: 5 }).chat.completions.create({ ...say("x"), stream }));
    expect(error).toBeInstanceOf(OpenAI.InternalServerError);
    expect([error.status, error.code, error.param]).toEqual([502, null, null]);
    expect(error.message).toContain("The provider is ill");
    expect(deployment.calls()).toBe(3);
    expect(await deployment.count("TurnStarted")).toBe(before + 1);
  });

  test.each([false, true])("and names a retry time passes it on (stream: %s)", async (stream) => {
    deployment.answers({ ...refused(429), headers: { "retry-after": "20" } });
    const error = await failure(open({ maxRetries: 0 }).chat.completions.create({ ...say("x"), stream }));
    const told = ["retry-after", "retry-after-ms", "x-should-retry"].map((name) => error.headers.get(name));
    expect([error.status, ...told]).toEqual([502, "20", "20000", "true"]);
  });

  test("permanently is asked once", async () => {
    deployment.answers(refused(400));
    expect(await failure(open({ maxRetries: 5 }).chat.completions.create(say("x")))).toMatchObject({ status: 502 });
    expect(deployment.calls()).toBe(1);
  });

  test("temporarily is asked again without the client's notice", async () => {
    deployment.answers(refused(503), refused(429), { text: "There" });
    const { choices } = await open().chat.completions.create(say("x"));
    expect([choices[0]!.message.content, deployment.calls()]).toEqual(["There", 3]);
  });

  test.each(["mid-event", "after-text", "end"] as const)(
    "in the middle of a stream (%s) throws after the text so far",
    async (cut) => {
      deployment.answers({ text: "Half of", cut });
      const words: string[] = [];
      const error = await failure(
        (async () => {
          for await (const { choices } of await open().chat.completions.create({ ...say("x"), stream: true }))
            words.push(choices[0]?.delta.content ?? "");
        })(),
      );
      expect(words.join("")).toBe("Half of");
      expect(error).toBeInstanceOf(OpenAI.APIError);
      expect(error.message).toMatch(/broke off|without a finish reason/);
    },
  );
});

/** A way to the platform that drops the first `times` connections once `when` has seen enough of the answer. */
async function brokenWay(times: number, when: (bytes: string) => boolean) {
  const { hostname, port } = new URL(deployment.platform.url);
  const sockets = new Set<Socket>();
  let left = times;
  const server = createServer((client) => {
    const there = connect(Number(port), hostname);
    for (const socket of [client, there]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy()).on("close", () => (client.destroy(), there.destroy()));
    }
    const breaks = left-- > 0;
    let seen = "";
    const drop = () => (client.destroy(), there.destroy());
    client.pipe(there);
    there.on("data", (bytes: Buffer) => {
      seen += bytes.toString("latin1");
      if (!breaks || !when(seen)) client.write(bytes);
      else drop();
    });
    if (breaks && when("")) client.once("data", () => setTimeout(drop, 100));
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  ways.push(close);
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return `http://127.0.0.1:${address.port}/api/openai/v1`;
}
const ways: (() => void)[] = [];
afterEach(() => {
  for (const close of ways.splice(0)) close();
});

describe("a connection that breaks", () => {
  const slowly = { text: "once and only once", delay_ms: 200 };
  test("before a buffered answer: the SDK's retry joins the same turn", async () => {
    deployment.answers(after(1_500, "once"));
    const before = await deployment.count("TurnStarted");
    const baseURL = await brokenWay(1, () => true);
    const { choices } = await open({ baseURL, maxRetries: 2 }).chat.completions.create(say("joined"));
    expect(choices[0]).toMatchObject({ message: { content: "once" }, finish_reason: "stop" });
    expect([deployment.calls(), await deployment.count("TurnStarted")]).toEqual([1, before + 1]);
  });

  test("twice: still one turn", async () => {
    deployment.answers(after(1_500, "once"));
    const before = await deployment.count("TurnStarted");
    const baseURL = await brokenWay(2, () => true);
    const { choices } = await open({ baseURL, maxRetries: 3 }).chat.completions.create(say("joined twice"));
    expect(choices[0]!.message.content).toBe("once");
    expect([deployment.calls(), await deployment.count("TurnStarted")]).toEqual([1, before + 1]);
  });

  test("before a stream's first byte: the retry receives the whole stream", async () => {
    deployment.answers(slowly);
    const before = await deployment.count("TurnStarted");
    const baseURL = await brokenWay(1, (seen) => seen.includes("HTTP/1.1 200"));
    const words: string[] = [];
    const stream = await open({ baseURL, maxRetries: 2 }).chat.completions.create({
      ...say("joined stream"),
      stream: true,
    });
    for await (const { choices } of stream) words.push(choices[0]?.delta.content ?? "");
    expect(words.join("")).toBe("once and only once");
    expect([deployment.calls(), await deployment.count("TurnStarted")]).toEqual([1, before + 1]);
  });

  test("an answered request that is sent again starts a new turn", async () => {
    const before = await deployment.count("TurnStarted");
    await open().chat.completions.create(say("twice"));
    await open().chat.completions.create(say("twice"));
    await open().chat.completions.create(say("twice"), { headers: { "x-stainless-retry-count": "1" } });
    expect(await deployment.count("TurnStarted")).toBe(before + 3);
  });

  test("the SDK's own idempotency key returns the same answer", async () => {
    const before = await deployment.count("TurnStarted");
    const options = { headers: { "idempotency-key": "one" } };
    const first = await open().chat.completions.create(say("keyed"), options);
    expect(await open().chat.completions.create(say("keyed"), options)).toEqual(first);
    const error = await failure(open().chat.completions.create(say("another"), options));
    expect(error).toBeInstanceOf(OpenAI.UnprocessableEntityError);
    expect(error.code).toBe("idempotency_key_reused");
    expect(await deployment.count("TurnStarted")).toBe(before + 1);
  });
});

describe("a client that gives up", () => {
  test("by its timeout leaves a buffered turn running, and its retry receives the answer", async () => {
    deployment.answers(after(3_500, "late"));
    const before = await deployment.count("TurnStarted");
    expect(await failure(open({ timeout: 1_500 }).chat.completions.create(say("too slow")))).toBeInstanceOf(
      OpenAI.APIConnectionTimeoutError,
    );
    const { choices } = await open({ timeout: 2_000, maxRetries: 3 }).chat.completions.create(say("slow enough"));
    expect(choices[0]!.message.content).toBe("late");
    expect(deployment.calls()).toBe(2);
    expect(await deployment.count("TurnStarted")).toBe(before + 2);
  });

  test("by aborting a stream stops the turn and keeps the text so far", async () => {
    deployment.answers({ text: "word ".repeat(200), delay_ms: 50 });
    const stopped = await deployment.count("TurnStopped");
    const { data, response } = await open()
      .chat.completions.create({ ...say("stop me"), stream: true })
      .withResponse();
    for await (const { choices } of data) if (choices[0]?.delta.content) break;
    await expect.poll(() => deployment.count("TurnStopped")).toBe(stopped + 1);
    const thread = await fetch(`${deployment.base_url}/threads/${response.headers.get("x-thread-id")}/messages`, {
      headers: { authorization: `Bearer ${deployment.api_key}` },
    });
    const { data: said } = (await thread.json()) as { data: { content: string; status: string }[] };
    expect(said[1]).toMatchObject({ content: expect.stringMatching(/^word /), status: "stopped" });
  });

  test("by its own signal gets an abort error", async () => {
    deployment.answers(after(1_000, "too late"));
    const error = await failure(open().chat.completions.create(say("abort"), { signal: AbortSignal.timeout(100) }));
    expect(error).toBeInstanceOf(OpenAI.APIUserAbortError);
    deployment.answers();
    expect((await open().chat.completions.create(say("next"))).choices[0]!.message.content).toBe("next");
  });
});
