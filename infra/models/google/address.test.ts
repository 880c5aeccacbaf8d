import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { Credential } from "#services/turns/model.ts";
import { startGoogle, type GoogleDouble } from "#test/doubles/google.ts";
import { asking, failed, heard, textOf } from "#test/doubles/modelRequest.ts";
import { openModels } from "../index.ts";

/* Where requests go, and with what. */

let google: GoogleDouble;
beforeAll(async () => {
  google = await startGoogle();
});
beforeEach(() => void (google.requests.length = 0));
afterEach(() => vi.unstubAllEnvs());
afterAll(() => google.close());

const models = openModels({ offline: false, privateHosts: [] });
const at = (base_url: string, api_key = "AIza-canary-0123456789"): Credential => ({
  provider: "google",
  api_key,
  base_url,
  guarded: false,
});
const ask = (text: string, model = "gemini-4-pro") => asking(text, { model });
const posts = () => google.requests.filter(({ method }) => method === "POST");

test.each(["", "/", "/v1beta", "/v1beta/"])("to the address that was named (%j)", async (path) => {
  expect(textOf(await heard(models.open(at(google.url + path)), ask("Hello")))).toBe("Hello");
});

test("with the headers that are needed, and nothing of the environment", async () => {
  for (const name of ["GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT"]) vi.stubEnv(name, "environment");
  vi.stubEnv("GOOGLE_GEMINI_BASE_URL", "https://elsewhere.example");
  vi.stubEnv("GOOGLE_GENAI_USE_VERTEXAI", "true");
  vi.stubEnv("GOOGLE_GENAI_API_VERSION", "v9");
  await heard(models.open(at(google.url, "AIza-fresh")), ask("Hello"));
  const { headers, path } = posts().at(-1)!;
  expect(path).toBe("/v1beta/models/gemini-4-pro:streamGenerateContent?alt=sse");
  expect(JSON.stringify(headers)).not.toContain("environment");
  expect(Object.keys(headers).filter((name) => name.startsWith("x-"))).toEqual(["x-goog-api-key"]);
});

test.each(["../files", "a%2e%2e", "a?b", "a#b", "", "a/", "gemini 4"])("not for the name %j", async (name) => {
  const { error } = await failed(models.open(at(google.url)), ask("Hello", name));
  expect(error).toMatchObject({ kind: "refused", status: 404 });
  expect(google.requests).toEqual([]);
});

test("not to a private address that a tenant named", async () => {
  const { error } = await failed(models.open({ ...at(google.url), guarded: true }), ask("Hello"));
  expect(error).toMatchObject({ kind: "refused", message: "The provider's address is not allowed here." });
  expect(google.requests).toEqual([]);
});

test("and nowhere where nobody answers", async () => {
  const gone = await startGoogle();
  await gone.close();
  const { error } = await failed(models.open(at(gone.url)), ask("Hello"));
  expect(error).toMatchObject({ kind: "transient", message: "The provider could not be reached (ECONNREFUSED)." });
});
