import { beforeAll, expect, test } from "vitest";
import { startProvider, type Provider } from "../doubles/provider.ts";
import { clientOf, startService, type Service } from "./service.ts";

let provider: Provider;
let service: Service;
let call: ReturnType<typeof clientOf>;
beforeAll(async () => {
  provider = await startProvider();
  service = await startService({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: provider.url });
  call = clientOf(service, service.credentials.api_key);
  return () => provider.close();
});

const image = `data:image/png;base64,${Buffer.from("not really an image").toString("base64")}`;
const ask = (text: string, headers: Record<string, string> = {}) => {
  const content = [
    { type: "text", text },
    { type: "image_url", image_url: { url: image } },
  ];
  return call(
    "POST",
    "/chat/completions",
    { model: "openai/gpt-test", messages: [{ role: "user", content }] },
    headers,
  );
};

/** Reactions to the refusal have been handled once the blobs of a file that was deleted after it are gone. */
async function reactionsPassed(): Promise<void> {
  const [head] = await service.db.query<{ position: number }>("select position from log.head");
  const reached = async () => {
    const [row] = await service.db.query<{ position: number }>(
      "select position from log.checkpoints where name = 'reactions'",
    );
    return row?.position ?? 0;
  };
  await expect.poll(reached, { timeout: 10_000 }).toBeGreaterThanOrEqual(head!.position);
}

test("a turn that is run anew after a refusal stands: its thread goes on with all of it", async () => {
  const key = { "idempotency-key": "anew" };
  provider.script({ status: 400, body: { error: { message: "not now" } } });
  const refused = await ask("first", key);
  expect(refused.status).toBe(502);
  provider.script(() => undefined);
  const anew = await ask("first", key);
  expect([anew.status, anew.body.choices[0].message.content]).toEqual([200, "first"]);
  expect((await ask("first", key)).body).toEqual(anew.body);

  await reactionsPassed();
  const thread = anew.headers.get("x-thread-id")!;
  expect((await ask("second", { "x-thread-id": thread })).status).toBe(200);
  const sent = provider.requests.at(-1)!.body.messages;
  expect(sent.map(({ role }: { role: string }) => role)).toEqual(["user", "assistant", "user"]);
  expect(JSON.stringify(sent[0])).toContain(image);
});
