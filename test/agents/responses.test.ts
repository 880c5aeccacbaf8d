import { setTimeout as sleep } from "node:timers/promises";
import OpenAI from "openai";
import { Stream } from "openai/streaming";
import { expect, test } from "vitest";
import { startPlatform } from "../platform.ts";
import { checkedFetch } from "./checkedFetch.ts";

const platform = await startPlatform();
const credentials = await platform.organization();
const client = new OpenAI({
  baseURL: `${platform.url}/api/agents/${credentials.agent_id}/v1`,
  apiKey: credentials.api_key,
  maxRetries: 0,
  fetch: checkedFetch,
});

test("a buffered response can be read again", async () => {
  const response = await client.responses.create({ input: "Hello", user: "u1", metadata: { region: "eu" } });
  expect(response).toMatchObject({
    object: "response",
    status: "completed",
    model: "offline/echo",
    output_text: "Hello",
    user: "u1",
    metadata: { region: "eu" },
    previous_response_id: null,
    error: null,
  });
  const again = await client.responses.retrieve(response.id, { user: "u1" } as never);
  expect({ ...again, output_text: undefined }).toEqual({ ...response, output_text: undefined });
});

test("the stream of a response can be read again from any event", async () => {
  const events: any[] = [];
  for await (const event of await client.responses.create({ input: "One two three", stream: true })) events.push(event);
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, n) => n));
  expect(events.at(-1)).toMatchObject({ type: "response.completed" });
  const { id } = events.at(-1).response;
  const again: any[] = [];
  for await (const event of await client.responses.retrieve(id, { stream: true, starting_after: 3 })) again.push(event);
  expect(again).toEqual(events.slice(4));
});

test("a thread continues with previous_response_id", async () => {
  const first = await client.responses.create({ input: "first" });
  const second = await client.responses.create({ input: "second", previous_response_id: first.id });
  expect(second).toMatchObject({ previous_response_id: first.id, thread_id: (first as any).thread_id });
  const items = await client.responses.inputItems.list(second.id);
  expect(items.data.map((item: any) => [item.role, item.content[0].text])).toEqual([
    ["user", "first"],
    ["assistant", "first"],
    ["user", "second"],
  ]);
  await client.responses.delete(first.id);
  await expect(client.responses.retrieve(first.id)).rejects.toMatchObject({ status: 404, code: "response_not_found" });
  expect((await client.responses.inputItems.list(second.id)).data).toHaveLength(1);
});

/** Requests within a second share one reading of the metrics. */
const METRICS_SHARED_MS = 1_000;

test.each([false, true])("a turn and its tokens are counted once; streamed: %s", async (stream) => {
  const readCounts = async () => {
    await sleep(METRICS_SHARED_MS);
    const text = await (await fetch(`${platform.url}/metrics`)).text();
    const read = (line: string) => Number(new RegExp(`^${line} (\\d+)$`, "m").exec(text)?.[1] ?? 0);
    return {
      turns: read('chat_turns_total\\{status="completed"\\}'),
      tokens: read('chat_tokens_total\\{kind="completion"\\}'),
    };
  };
  const before = await readCounts();
  const answer = await client.responses.create({ input: "One two three", stream });
  if (answer instanceof Stream) for await (const event of answer) expect(event).toHaveProperty("type");
  const after = await readCounts();
  expect(after.turns).toBe(before.turns + 1);
  expect(after.tokens).toBeGreaterThan(before.tokens);
});
