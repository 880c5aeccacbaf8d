import { expect, test } from "vitest";
import { clientOf, startService } from "./service.ts";

const service = await startService();
const { provider } = service;
const call = clientOf(service, service.credentials.api_key);

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

/** Waits until the reactions to the refusal are handled, which delete the blobs of the refused turn. */
async function waitForReactions(): Promise<void> {
  const [head] = await service.db.query<{ position: number }>("select position from log.head");
  const reached = async () => {
    const [row] = await service.db.query<{ position: number }>(
      "select position from log.checkpoints where name = 'reactions'",
    );
    return row?.position ?? 0;
  };
  await expect.poll(reached).toBeGreaterThanOrEqual(head!.position);
}

test("a turn that is repeated after a refusal stays in its thread, with its attachments", async () => {
  const key = { "idempotency-key": "retry" };
  provider.script({ status: 400, body: { error: { message: "not now" } } });
  const refused = await ask("first", key);
  expect(refused.status).toBe(502);
  provider.script(() => undefined);
  const repeated = await ask("first", key);
  expect([repeated.status, repeated.body.choices[0].message.content]).toEqual([200, "first"]);
  expect((await ask("first", key)).body).toEqual(repeated.body);

  await waitForReactions();
  const thread = repeated.headers.get("x-thread-id")!;
  expect((await ask("second", { "x-thread-id": thread })).status).toBe(200);
  const sent = provider.requests.at(-1)!.body.messages;
  expect(sent.map(({ role }: { role: string }) => role)).toEqual(["user", "assistant", "user"]);
  expect(JSON.stringify(sent[0])).toContain(image);
});
