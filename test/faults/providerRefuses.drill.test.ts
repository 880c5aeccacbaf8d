import { describe, expect, test, vi } from "vitest";
import { freePort } from "#infra/embedded/freePort.ts";
import { afterFile } from "../cleanUp.ts";
import { expectRefusal } from "../hostile/target.ts";
import { clientOf } from "../http/service.ts";
import { hung, reset, silentAfter } from "./replies.ts";
import { readStream, setStage, type Fault } from "./faultyProvider.ts";

/* A turn that a provider refuses is a 502 without code, and did not happen. One that it never answers is the same 502, and paid. */

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000).toUTCString();
const retryAfter = (value?: string): Record<string, string> => (value === undefined ? {} : { "retry-after": value });
const busy =
  (after?: string | (() => string)): Fault =>
  () => ({
    status: 429,
    headers: retryAfter(typeof after === "function" ? after() : after),
    body: { error: { message: "Slow down." } },
  });
const failing = (status: number): Fault => ({ status, body: { error: { message: "No." } } });

/** How often the provider may be asked: three times where it may pass, once where it asks for more patience than 5 s. */
const refusals: Record<string, [fault: Fault, calls: number]> = {
  "429": [busy(), 3],
  "429 in 1 s": [busy("1"), 3],
  "429 in a day": [busy("86400"), 1],
  "429 until a second from now": [busy(() => inSeconds(1)), 3],
  "429 until tomorrow": [busy(() => inSeconds(86_400)), 1],
  "429 until yesterday": [busy(() => inSeconds(-86_400)), 3],
  "429 with rubbish": [busy("soon"), 3],
  "429 with a negative number": [busy("-5"), 3],
  "500": [failing(500), 3],
  "503": [failing(503), 3],
  "529": [failing(529), 3],
  "401": [failing(401), 1],
  "a connection that is reset": [reset, 3],
};

const stage = await setStage({
  ...Object.fromEntries(Object.entries(refusals).map(([name, [fault]]) => [name, fault])),
  "429 and then an answer": (call) => (call < 3 ? { status: 429, headers: { "retry-after": "0" } } : { text: "ok" }),
  hung,
  "headers and no word": silentAfter(),
  "its credential": { status: 401, body: { error: { message: "Incorrect API key provided: sk-test." } } },
});
afterFile(stage.close);

describe.concurrent.each([false, true])("a provider that refuses (stream: %s)", (stream) => {
  test.each(Object.entries(refusals))("is a 502: %s", async (name, [, calls]) => {
    const { answer, called, between, end } = await stage.inThread(name, { stream });
    expectRefusal(answer, 502, undefined, null);
    expect([called, between, end.type]).toEqual([calls, [], "TurnRefused"]);
  });

  test("is a 502: a closed connection or an unreachable address", async () => {
    const { admin } = stage.credentials;
    const { url } = stage.patient;
    const session = await clientOf({ chat: url }, "")("POST", "/api/auth/login", admin);
    const name = `nobody-${stream}`;
    const provider = { api_key: "k", base_url: `http://127.0.0.1:${await freePort()}/v1`, models: ["m"] };
    const call = clientOf({ chat: url }, session.body.token);
    expect((await call("PUT", `/api/providers/${name}`, provider)).status).toBe(200);
    const { answer, between, end } = await stage.inThread(`${name}/m`, { stream });
    expectRefusal(answer, 502, undefined, null);
    expect([between, end.type]).toEqual([[], "TurnRefused"]);
  });

  test.each(["hung", "headers and no word"])(
    "fails the turn at its time limit, and the tokens count: %s",
    async (name) => {
      const { answer, called, between, end } = await stage.inThread(name, { stream, hurry: true });
      expectRefusal(answer, 502, undefined, null);
      expect([called, between, end.type]).toEqual([1, ["asked"], "TurnFailed"]);
      expect(end.data.usage.prompt_tokens).toBeGreaterThan(0);
    },
  );

  test("at first and answers at the third attempt counts as answered", async () => {
    const { answer, called, end } = await stage.inThread("429 and then an answer", { stream });
    const text = stream ? readStream(answer.text).text : answer.body.choices[0].message.content;
    expect([answer.status, text, called, end.type]).toEqual([200, "ok", 3, "TurnCompleted"]);
  });
});

test.each([false, true])(
  "a provider's message about its credential appears only in the log (stream: %s)",
  async (stream) => {
    const warn = vi.spyOn(stage.worker.resources.logger, "warn");
    const { answer, between } = await stage.inThread("its credential", { stream });
    expect(answer.body.error.message).toBe(
      "The provider refused the credential that is configured for it. An administrator must check the provider's API key.",
    );
    expect(between).toEqual([]);
    const { organization_id } = stage.credentials;
    expect(warn).toHaveBeenCalledWith(
      expect.objectContaining({
        organization_id,
        details: "The provider answered 401: Incorrect API key provided: [key].",
      }),
      "provider refused its credential",
    );
    warn.mockRestore();
  },
);
