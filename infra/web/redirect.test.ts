import { expect, test } from "vitest";
import { AddressRefused } from "./address.ts";
import { nextHop } from "./redirect.ts";

const redirect = (location: string, status = 302) => new Response(null, { status, headers: { location } });

test("a redirect from https to http is refused", () => {
  const hop = { url: new URL("https://example.com/"), init: {} };
  expect(() => nextHop(hop, redirect("http://example.com/"))).toThrow(AddressRefused);
  expect(nextHop(hop, redirect("//example.org/a"))?.url.href).toBe("https://example.org/a");
});

test("a redirect to an invalid address is refused", () => {
  expect(() => nextHop({ url: new URL("http://example.com/"), init: {} }, redirect("http://[::1/"))).toThrow(
    AddressRefused,
  );
});

test("a response with another status, or without a location, is not a redirect", () => {
  const hop = { url: new URL("http://example.com/"), init: {} };
  expect(nextHop(hop, redirect("/a", 201))).toBeUndefined();
  expect(nextHop(hop, new Response(null, { status: 302 }))).toBeUndefined();
});

test("a redirect that drops the body drops its headers, and keeps the credentials on the same server", () => {
  const headers = { authorization: "Bearer x", "content-type": "application/json" };
  const hop = { url: new URL("http://example.com/"), init: { method: "POST", body: "{}", headers } };
  const { init } = nextHop(hop, redirect("/a"))!;
  expect(init).toMatchObject({ method: "GET", body: null });
  expect(Object.fromEntries(new Headers(init.headers))).toEqual({ authorization: "Bearer x" });
});

test("a redirect to another server drops every header that may be a key", () => {
  const headers = {
    accept: "text/html",
    "X-Api-Key": "k",
    "x-subscription-token": "t",
    cookie: "c",
    Authorization: "a",
  };
  const hop = { url: new URL("https://example.com/"), init: { headers } };
  const sentTo = (place: string) => Object.fromEntries(new Headers(nextHop(hop, redirect(place))!.init.headers));
  expect(sentTo("https://example.org/")).toEqual({ accept: "text/html" });
  expect(sentTo("/elsewhere")).toHaveProperty("x-api-key", "k");
});
