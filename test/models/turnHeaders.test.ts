import { expect, test } from "vitest";
import { clientOf, say } from "../http/service.ts";
import { openPeople } from "../accounts/people.ts";

/* Headers with the model that answered, the cost, and the number of targets that did not answer (docs/models.md). */

const people = await openPeople();
const credentials = await people.service.organization("Headers");
const owner = await people.signIn(credentials);
const chat = clientOf(people.service, credentials.api_key);
await owner("PUT", "/prices/offline/echo", { prices: [{ input: "0", output: "0", per_call: "0.5" }] });
await owner("PUT", "/aliases/fast", { targets: [{ model: "offline/scripted" }, { model: "offline/echo" }] });

const ask = (text: string, more: object = {}) => chat("POST", "/chat/completions", say(text, { ...more }));

test("an answer names its turn, its model and its cost", async () => {
  const { headers, body } = await ask("Hi");
  expect(Object.fromEntries(headers)).toMatchObject({
    "x-turn-id": body.id.slice("chatcmpl-".length),
    "x-turn-model": "offline/echo",
    "x-turn-cost": body.usage.cost,
  });
  expect(body.usage.cost).toBe("0.5");
  expect(headers.get("x-turn-failed-targets")).toBeNull();
});

test("an unknown cost gets no header", async () => {
  const { headers } = await ask("Hi", { model: "offline/scripted" });
  expect([headers.get("x-turn-model"), headers.get("x-turn-cost")]).toEqual(["offline/scripted", null]);
});

test("the answer of an alias names the target and the number of failed targets, and so does its repetition", async () => {
  const once = { "idempotency-key": "once" };
  const answer = () => chat("POST", "/chat/completions", say("/fail 503", { model: "fast" }), once);
  const { headers, body } = await answer();
  expect(Object.fromEntries(headers)).toMatchObject({
    "x-turn-model": "offline/echo",
    "x-turn-cost": "0.5",
    "x-turn-failed-targets": "1",
  });
  const again = await answer();
  expect(again.body.id).toBe(body.id);
  expect(Object.fromEntries(again.headers)).toMatchObject({ "x-turn-model": "offline/echo", "x-turn-cost": "0.5" });
});

test("a stream names its turn at once, and the target before its first word", async () => {
  const { headers, text } = await ask("/fail 503", { model: "fast", stream: true });
  expect(text).toContain("[DONE]");
  expect(headers.get("x-turn-model")).toBe("offline/echo");
  expect(headers.get("x-turn-id")).toMatch(/^[0-9a-f-]{36}$/);
  expect((await ask("Hi", { stream: true })).headers.get("x-turn-model")).toBe("offline/echo");
});

test("a failed turn reports how many targets failed", async () => {
  await owner("PUT", "/aliases/none", { targets: [{ model: "offline/scripted" }], on: ["503"], max_attempts: 1 });
  const { status, headers } = await ask("/fail 503", { model: "none" });
  expect([status, headers.get("x-turn-failed-targets"), headers.get("x-turn-cost")]).toEqual([502, "1", null]);
});

test("a response of an agent has the same headers", async () => {
  const agent = (await owner("POST", "/agents", { name: "A", model: "fast" })).body.id;
  const { headers, body } = await owner("POST", `/agents/${agent}/v1/responses`, { input: "/fail 503" });
  expect(Object.fromEntries(headers)).toMatchObject({
    "x-turn-id": body.id.slice("resp_".length),
    "x-turn-model": "offline/echo",
    "x-turn-cost": "0.5",
    "x-turn-failed-targets": "1",
  });
});
