import { afterEach, expect, test, vi } from "vitest";
import { asking, heard } from "#test/doubles/modelRequest.ts";
import { openaiModel } from "../openai.ts";
import type { Outgoing } from "../send.ts";

afterEach(() => vi.unstubAllEnvs());

/** What would go out, and where to; the answer is always the same. */
async function outgoing(base_url: string | null): Promise<{ url: string; headers: Outgoing["headers"]; body: any }> {
  let seen: { url: string; sent: Outgoing } | undefined;
  const answer = Buffer.from('{"choices":[{"message":{"content":"Yes."},"finish_reason":"stop"}]}');
  const model = openaiModel({ provider: "openai", api_key: "sk-test", base_url, guarded: false }, async (url, sent) => {
    seen = { url, sent };
    const chunks = [answer].values();
    const headers = new Headers({ "content-type": "application/json" });
    return { status: 200, headers, chunks: { next: async () => chunks.next() }, cancel: () => undefined };
  });
  await heard(model, asking("Hello", { max_output_tokens: 5 }));
  return { url: seen!.url, headers: seen!.sent.headers, body: JSON.parse(seen!.sent.body!) };
}

test.each([null, "https://api.openai.com/v1", "https://api.openai.com/v1/"])(
  "OpenAI itself (%j) gets max_completion_tokens",
  async (base_url) => {
    const { url, body } = await outgoing(base_url);
    expect(url).toBe("https://api.openai.com/v1/chat/completions");
    expect(body).toMatchObject({ max_completion_tokens: 5 });
    expect(body).not.toHaveProperty("max_tokens");
  },
);

test.each(["https://api.openai.com.example/v1", "http://127.0.0.1:4000/v1"])(
  "a compatible server (%s) gets max_tokens",
  async (base_url) => {
    const { url, body } = await outgoing(base_url);
    expect(url).toBe(`${base_url}/chat/completions`);
    expect(body).toMatchObject({ max_tokens: 5 });
    expect(body).not.toHaveProperty("max_completion_tokens");
  },
);

test("nothing of the environment goes along", async () => {
  vi.stubEnv("OPENAI_BASE_URL", "https://elsewhere.example/v1");
  vi.stubEnv("OPENAI_API_KEY", "sk-environment");
  vi.stubEnv("OPENAI_ORG_ID", "org-environment");
  vi.stubEnv("OPENAI_PROJECT_ID", "proj-environment");
  vi.stubEnv("OPENAI_CUSTOM_HEADERS", "x-secret: environment");
  const { url, headers } = await outgoing(null);
  expect(url).toBe("https://api.openai.com/v1/chat/completions");
  expect(headers.authorization).toBe("Bearer sk-test");
  expect(JSON.stringify(headers)).not.toContain("environment");
});
