import type { ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { sseHeaders, streamReply } from "#test/doubles/dialect.ts";
import { DIALECTS } from "#test/doubles/dialects.ts";
import { collectEvents, collectFailure, outputText } from "#test/doubles/modelRequest.ts";
import { useDouble, WAYS } from "#test/doubles/useDouble.ts";

const REFUSED = [400, 404, 413, 422];
const CREDENTIAL_REFUSED =
  "The provider refused the credential that is configured for it. An administrator must check the provider's API key.";
const TRANSIENT = [408, 409, 429, 500, 503, 504, 529];

describe.each(DIALECTS)("$name", (dialect) => {
  const { double, open, request } = useDouble(dialect);
  const { apiKey, errorBody } = dialect;

  describe.each(WAYS)("a $way answer", ({ streamed }) => {
    const hello = (text = "Hello") => request(text, { streamed });
    const failure = (text?: string, model = open()) => collectFailure(model, hello(text));

    test.each([
      ...REFUSED.map((status) => [status, "refused"] as const),
      ...TRANSIENT.map((status) => [status, "transient"] as const),
    ])("with the status %i is %s after one request", async (status, kind) => {
      double().reply({ status, body: errorBody(status, "no such luck") });
      const { error, events } = await failure();
      expect(error).toMatchObject({ kind, status, message: `The provider answered ${status}: no such luck` });
      expect(events).toEqual([]);
      expect(double().prompts()).toHaveLength(1);
    });

    test.each(["not json at all", "", "<html>busy</html>", "null", "[]"])(
      "with a 502 and the body %j is transient",
      async (body) => {
        double().reply({ status: 502, body });
        expect((await failure()).error).toMatchObject({ kind: "transient", status: 502 });
      },
    );

    test.each([
      ["3", 3_000],
      ["86400", 86_400_000],
      ["Thu, 01 Jan 2015 00:00:00 GMT", 0],
      ["soon", undefined],
    ])("with Retry-After: %s can be retried after %s ms", async (value, expected) => {
      double().reply({ status: 429, headers: { "retry-after": value, "x-should-retry": "true" } });
      expect((await failure()).error.retry_after_ms).toBe(expected);
      expect(double().prompts()).toHaveLength(1);
    });

    test.each([401, 403])("with the status %i contains nothing of the provider's message", async (status) => {
      double().reply({ status, body: errorBody(status, "Incorrect API key provided: canary") });
      const { error } = await failure();
      expect(error).toMatchObject({ kind: "refused", status, message: CREDENTIAL_REFUSED });
      expect(error.details).toBe(`The provider answered ${status}: Incorrect API key provided: canary`);
    });

    test("whose error repeats the API key, or its beginning and end, does not show it", async () => {
      const short = `${apiKey.slice(0, 6)}*****${apiKey.slice(-4)}`;
      for (const status of [401, 422]) {
        double().reply({ status, body: errorBody(status, `The key ${apiKey} ("${short}") is wrong.`) });
        const { error } = await failure();
        expect(error.details ?? error.message).toBe(
          `The provider answered ${status}: The key [key] ("[key]") is wrong.`,
        );
        const shown = JSON.stringify([error, error.cause, error.stack]);
        expect(shown).not.toContain(apiKey);
        expect(shown).not.toContain(short);
      }
    });

    test("to a wrong API key is refused with a plain sentence", async () => {
      const { apiKey: api_key, status, message } = dialect.wrongKey;
      const { error } = await failure("Hello", open({ api_key }));
      expect(error).toMatchObject({ kind: "refused", status, message: CREDENTIAL_REFUSED });
      expect(error.details).toBe(`The provider answered ${status}: ${message}`);
    });

    test("from a server that is down is transient", async () => {
      const down = await dialect.start();
      await down.close();
      const { error } = await failure("Hello", open({ base_url: down.url }));
      expect(error).toMatchObject({ kind: "transient", message: "The provider could not be reached (ECONNREFUSED)." });
    });

    test("whose connection closes without a response is transient", async () => {
      double().reply({ write: (response) => void response.destroy() });
      expect((await failure()).error.kind).toBe("transient");
    });

    test("that never comes ends with the abort of its request", async () => {
      double().reply({ write: () => undefined });
      const controller = new AbortController();
      const answer = collectEvents(open(), hello(), controller.signal);
      while (double().prompts().length === 0) await wait(5);
      controller.abort(new Error("enough"));
      await expect(answer).rejects.toMatchObject({ name: "AbortError" });
    });

    test("to an aborted request is never asked for", async () => {
      await expect(collectEvents(open(), hello(), AbortSignal.abort())).rejects.toMatchObject({ name: "AbortError" });
      expect(double().prompts()).toEqual([]);
    });

    test("of more values than the event loop has time for is cut", async () => {
      const { start, text } = dialect.frames;
      const json = `{"choices":[${"{},".repeat(150_000)}{}]}`;
      const isStream = streamed || dialect.alwaysStreams;
      double().reply(
        isStream ? streamReply(`${start}${text("Well, ")}data: ${json}\n\n`) : { status: 200, body: json },
      );
      const { error } = await failure();
      expect(error).toMatchObject({
        kind: "cut",
        message: "The provider broke off in the middle of its answer (has more than 250000 values).",
      });
    });

    test("with an error body of more values is refused without it", async () => {
      double().reply({ status: 400, body: `[${"{},".repeat(150_000)}{}]` });
      expect((await failure()).error).toMatchObject({
        kind: "refused",
        message: expect.stringMatching(/^The provider answered 400.{0,100}$/),
      });
    });

    if (streamed || dialect.alwaysStreams) {
      test("with an error in its stream is cut, without the API key", async () => {
        double().reply({ text: "Well, ", error: `Overloaded ${apiKey}` });
        const { error, events } = await failure();
        expect(error).toMatchObject({ kind: "cut", message: "The provider broke off: Overloaded [key]" });
        expect(outputText(events)).toBe(streamed ? "Well, " : "");
      });

      test.each(["mid-event", "after-text", "end"] as const)("that ends too early is cut (%s)", async (cut) => {
        double().reply({ cut });
        const { error, events } = await failure("one two three");
        expect(error.kind).toBe("cut");
        expect(outputText(events)).toBe(streamed ? "one two three" : "");
      });
    }
  });

  describe("a streamed answer", () => {
    const { start, text, broken } = dialect.frames;
    const streamed = () => request("Hello", { streamed: true });
    /** Starts an answer and reports when the provider's side of the connection closes. */
    const replyUntilClosed = (write: (response: ServerResponse) => void) => {
      const connection = { closed: false };
      double().reply({
        write: (response) => {
          response.writeHead(200, sseHeaders).on("close", () => (connection.closed = true));
          response.write(start);
          write(response);
        },
      });
      return connection;
    };

    test.each([...broken, ["invalid UTF-8", Buffer.from(text("\u00ff"), "latin1")] as const])(
      "with %s is cut",
      async (name, bytes) => {
        double().reply({
          write: (response) => {
            response.writeHead(200, sseHeaders).write(start + text("Well, "));
            setTimeout(() => response.end(bytes), 20);
          },
        });
        const { error, events } = await collectFailure(open(), streamed());
        expect([error.kind, outputText(events)]).toEqual(["cut", "Well, "]);
        if (name === "invalid UTF-8") expect(error.message).toContain(name);
      },
    );

    test("without an end is cut, and its connection closed", async () => {
      const connection = replyUntilClosed((response) => {
        const endless = text("a".repeat(100_000));
        const writeMore = () => {
          while (!response.destroyed && response.write(endless)) continue;
        };
        response.on("drain", writeMore);
        writeMore();
      });
      const { error, events } = await collectFailure(open(), streamed());
      expect(error).toMatchObject({ kind: "cut", message: "The provider's answer exceeds the size limit." });
      expect(outputText(events).length).toBeLessThanOrEqual(8 * 1024 * 1024);
      await expect.poll(() => connection.closed).toBe(true);
    });

    test("with thousands of tool calls is cut", async () => {
      double().reply({ calls: Array.from({ length: 1_001 }, () => ({ name: "look", args: {} })) });
      const { error } = await collectFailure(open(), streamed());
      expect(error).toMatchObject({
        kind: "cut",
        message: "The provider's answer has more than 1000 tool calls.",
      });
    });

    test("is cancelled at the provider when its reader stops", async () => {
      const connection = replyUntilClosed((response) => response.write(text("Well, ")));
      for await (const event of open().complete(streamed(), new AbortController().signal)) {
        expect(event).toEqual({ type: "text", text: "Well, " });
        break;
      }
      await expect.poll(() => connection.closed).toBe(true);
    });

    test("ends with an AbortError when it is aborted in the middle", async () => {
      double().reply(streamReply(start + text("Well, "), "open"));
      const controller = new AbortController();
      const answer = async () => {
        for await (const _ of open().complete(streamed(), controller.signal)) controller.abort();
      };
      await expect(answer()).rejects.toMatchObject({ name: "AbortError" });
    });
  });
});
