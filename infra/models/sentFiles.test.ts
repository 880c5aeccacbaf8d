import { expect, test } from "vitest";
import { collectFailure, modelRequest } from "#test/doubles/modelRequest.ts";
import { openModels } from "./index.ts";

test("more than 100 MB of attachments are refused before anything is written for a provider", async () => {
  const credential = { provider: "openai", api_key: "sk", base_url: "http://127.0.0.1:9/v1", guarded: false };
  const model = openModels({ offline: false, privateHosts: [] }).open(credential);
  const bytes = Buffer.alloc(25_000_001);
  const files = Array.from({ length: 4 }, (_, n) => ({
    type: "file" as const,
    filename: `${n}.png`,
    mime_type: "image/png",
    bytes,
  }));
  const { error } = await collectFailure(model, modelRequest("Look", {}, files));
  expect(error).toMatchObject({
    kind: "refused",
    message: "The attachments have 101 MB together; a provider is sent 100 MB at most.",
  });
});
