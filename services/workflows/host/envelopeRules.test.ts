import { expect, test } from "vitest";
import { isEgressAllowed, isListed } from "./envelopeRules.ts";

test("a list of an envelope allows the names in it, and `*` allows every name", () => {
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
])("the egress entry %s decides about %s: %s", (allowed, address, isOpen) => {
  expect(isEgressAllowed([allowed], new URL(address))).toBe(isOpen);
  expect(isEgressAllowed([], new URL(address))).toBe(false);
  expect(isEgressAllowed(["other.example", allowed], new URL(address))).toBe(isOpen);
});
