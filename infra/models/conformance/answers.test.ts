import { describe, expect, test } from "vitest";
import { streamReply } from "#test/doubles/dialect.ts";
import { DIALECTS } from "#test/doubles/dialects.ts";
import { collectEvents, finishEvent, outputText, reasoningText } from "#test/doubles/modelRequest.ts";
import { useDouble, WAYS } from "#test/doubles/useDouble.ts";

describe.each(DIALECTS)("$name", (dialect) => {
  const { double, open, request } = useDouble(dialect);

  describe.each(WAYS)("a $way answer", ({ streamed }) => {
    const answer = (text = "Hello there") => collectEvents(open(), request(text, { streamed }));

    test("has text, reasoning and the provider's usage", async () => {
      const { raw, counted } = dialect.usage;
      double().reply({ reasoning: "Somebody greets me, so I greet them.", text: "Good day to you.", usage: raw });
      const events = await answer();
      expect(outputText(events)).toBe("Good day to you.");
      expect(reasoningText(events)).toBe("Somebody greets me, so I greet them.");
      // in a stream, words that arrive together after the first are one event
      const types = ["reasoning", ...(streamed ? ["reasoning"] : []), "text", "finish"];
      expect(events.map(({ type }) => type)).toEqual(types);
      expect(finishEvent(events)).toEqual({ type: "finish", finish_reason: "stop", usage: counted });
    });

    test.each(dialect.finishReasons)("with the finish reason %s has the reason %s", async (finish, expected) => {
      double().reply({ finish });
      expect(finishEvent(await answer()).finish_reason).toBe(expected);
    });

    test.each(dialect.unusableUsages)("with the usage %j gets its tokens counted", async (usage) => {
      double().reply({ usage, reasoning: "let me think", text: "one two three" });
      expect(finishEvent(await answer()).usage).toEqual({
        prompt_tokens: 6,
        completion_tokens: 6,
        cached_tokens: 0,
        reasoning_tokens: 3,
      });
    });

    test.each(["whole", "bytes", "odd"] as const)("can arrive in pieces (%s)", async (pieces) => {
      double().reply({ pieces, reasoning: "größer?", text: "größer 🎈 日本\n\ndata: 5" });
      const events = await answer();
      expect([reasoningText(events), outputText(events)]).toEqual(["größer?", "größer 🎈 日本\n\ndata: 5"]);
    });

    test("reuses the connection of the previous one", async () => {
      for (let n = 0; n < 20; n += 1) await answer("one two three");
      expect(new Set(double().requests.map(({ connection }) => connection)).size).toBeLessThanOrEqual(3);
    });
  });

  describe("a streamed answer", () => {
    const { start, text, finish, unknown } = dialect.frames;
    const streamed = () => collectEvents(open(), request("Hello", { streamed: true }));

    test("has its first words while the others are still to come", async () => {
      double().reply(streamReply(start + text("Yes."), "open"));
      const answer = open().complete(request("Hello", { streamed: true }), new AbortController().signal);
      for await (const event of answer) {
        expect(event).toEqual({ type: "text", text: "Yes." });
        return;
      }
      expect.unreachable("no words arrived");
    });

    test("has no word as long as it holds the connection open with pieces of nothing", async () => {
      double().reply(streamReply(start + text("") + unknown.join("") + text(""), "open"));
      const aborter = new AbortController();
      setTimeout(() => aborter.abort(), 300);
      const heard: unknown[] = [];
      const answer = open().complete(request("Hello", { streamed: true }), aborter.signal);
      await (async () => {
        for await (const event of answer) heard.push(event);
      })().catch(() => {});
      expect([aborter.signal.aborted, heard]).toEqual([true, []]);
    });

    test.each(["end", "destroy", "open"] as const)("is complete after the finish reason (then: %s)", async (after) => {
      double().reply(streamReply(start + text("Yes.") + finish, after));
      const events = await streamed();
      expect(outputText(events)).toBe("Yes.");
      expect(finishEvent(events)).toMatchObject({
        finish_reason: "stop",
        usage: { completion_tokens: expect.any(Number) },
      });
    });

    test.each(unknown)("skips the unknown frame %j", async (frame) => {
      double().reply(streamReply(start + frame + text("Yes.") + finish));
      expect(outputText(await streamed())).toBe("Yes.");
    });
  });
});
