import { expect, test } from "vitest";
import { isEgress, isListed } from "./allows.ts";

test("a list allows what it names, and `*` all", () => {
  expect(isListed(["a", "b"], "b")).toBe(true);
  expect(isListed(["a", "b"], "c")).toBe(false);
  expect(isListed(["*"], "c")).toBe(true);
  expect(isListed([], "c")).toBe(false);
});

test.each([
  ["api.example.com", "https://api.example.com/a?b", true],
  ["api.example.com", "http://API.example.com", true],
  ["api.example.com", "https://api.example.com:443", true],
  ["api.example.com", "https://api.example.com:8443", false],
  ["api.example.com", "http://api.example.com:443", false],
  ["api.example.com", "https://example.com", false],
  ["api.example.com", "https://api.example.com.evil.example", false],
  ["api.example.com", "https://evil.example/api.example.com", false],
  ["api.example.com", "https://api.example.com@evil.example", false],
  ["api.example.com:8443", "https://api.example.com:8443", true],
  ["api.example.com:8443", "https://api.example.com", false],
  ["api.example.com:443", "https://api.example.com", true],
  ["api.example.com:443", "http://api.example.com", false],
  ["*.example.com", "https://example.com", true],
  ["*.example.com", "https://a.b.example.com", true],
  ["*.example.com", "https://badexample.com", false],
  ["*.example.com", "https://a.example.com:8443", false],
  ["*.example.com:8443", "https://a.example.com:8443", true],
  ["xn--bcher-kva.example", "https://bücher.example", true],
  ["127.0.0.1:8080", "http://2130706433:8080", true],
])("%s and %s: %s", (allowed, address, open) => {
  expect(isEgress([allowed], new URL(address))).toBe(open);
  expect(isEgress([], new URL(address))).toBe(false);
  expect(isEgress(["other.example", allowed], new URL(address))).toBe(open);
});
