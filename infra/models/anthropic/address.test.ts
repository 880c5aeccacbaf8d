import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { Credential } from "#services/turns/model.ts";
import { startAnthropic, type AnthropicDouble } from "#test/doubles/anthropic.ts";
import { asking, failed, heard, textOf } from "#test/doubles/modelRequest.ts";
import { openModels } from "../index.ts";

/* Where requests go, and with what. */

let anthropic: AnthropicDouble;
beforeAll(async () => {
  anthropic = await startAnthropic();
});
beforeEach(() => void (anthropic.requests.length = 0));
afterEach(() => vi.unstubAllEnvs());
afterAll(() => anthropic.close());

const models = openModels({ offline: false, privateHosts: [] });
const at = (base_url: string, api_key = "sk-ant-canary-0123456789"): Credential => ({
  provider: "anthropic",
  api_key,
  base_url,
  guarded: false,
});
const ask = (text: string, model = "claude-opus-5") => asking(text, { model });
const posts = () => anthropic.requests.filter(({ method }) => method === "POST");

test.each(["", "/", "/v1", "/v1/"])("to the address that was named (%j)", async (path) => {
  expect(textOf(await heard(models.open(at(anthropic.url + path)), ask("Hello")))).toBe("Hello");
});

test("with the headers that are needed, and nothing of the environment", async () => {
  vi.stubEnv("ANTHROPIC_BASE_URL", "https://elsewhere.example");
  vi.stubEnv("ANTHROPIC_API_KEY", "sk-ant-environment");
  vi.stubEnv("ANTHROPIC_AUTH_TOKEN", "environment");
  vi.stubEnv("ANTHROPIC_CUSTOM_HEADERS", "x-secret: environment");
  await heard(models.open(at(anthropic.url, "sk-ant-fresh")), ask("Hello"));
  const { headers } = posts().at(-1)!;
  expect(headers.authorization).toBe("Bearer sk-ant-fresh");
  expect(JSON.stringify(headers)).not.toContain("environment");
  expect(Object.keys(headers).filter((name) => name.startsWith("x-"))).toEqual([]);
});

test("not to a private address that a tenant named", async () => {
  const { error } = await failed(models.open({ ...at(anthropic.url), guarded: true }), ask("Hello"));
  expect(error).toMatchObject({ kind: "refused", message: "The provider's address is not allowed here." });
  expect(anthropic.requests).toEqual([]);
});

test("and nowhere where nobody answers", async () => {
  const gone = await startAnthropic();
  await gone.close();
  const { error } = await failed(models.open(at(gone.url)), ask("Hello"));
  expect(error).toMatchObject({ kind: "transient", message: "The provider could not be reached (ECONNREFUSED)." });
});
