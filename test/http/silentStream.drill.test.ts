import { expect, test } from "vitest";
import { chunksOf, say, startService } from "./service.ts";

test("a stream whose model is silent for 10 s begins with the role, and has no comments", async () => {
  const service = await startService();
  const began = performance.now();
  const response = await fetch(`${service.chat}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.credentials.api_key}`, "content-type": "application/json" },
    body: JSON.stringify(say("/slow 12\n/say Hello", { model: "offline/scripted", stream: true })),
  });
  expect(performance.now() - began).toBeLessThan(11_500);
  const text = await response.text();
  expect(chunksOf(text).map(({ choices }) => choices[0].delta)).toEqual([
    { role: "assistant", content: "" },
    { content: "Hello" },
    {},
  ]);
  expect(text).not.toMatch(/^:/m);
});
