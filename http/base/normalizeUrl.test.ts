import { expect, test } from "vitest";
import { normalizeUrl } from "./normalizeUrl.ts";

test.each([
  ["/api/openai/v1//chat/completions", "/api/openai/v1/chat/completions"],
  ["/api/openai/v1/chat/completions/", "/api/openai/v1/chat/completions"],
  ["//api//openai/v1///models//?user=a//b/", "/api/openai/v1/models?user=a//b/"],
  ["/api/agents/x/v1//responses", "/api/agents/x/v1/responses"],
  ["/api/agents/", "/api/agents"],
])("%s is simplified to %s", (url, tidy) => {
  expect(normalizeUrl(url)).toBe(tidy);
});

test.each([
  "/api/openai/v1/models/openai%2F%2Fx",
  "/api/openai/v1/models?q=//",
  "/api/openai",
  "/docs/",
  "/console//a/",
  "/api/v1/knowledge/collections/",
  "http://a/api/openai/v1//models",
  "*",
  "/",
  "",
])("%s is unchanged", (url) => {
  expect(normalizeUrl(url)).toBe(url);
});
