import { expect, test } from "vitest";
import { computingTime } from "../../test/computingTime.ts";
import { pickHeaders, readSignedPayload } from "./hookPayload.ts";

const headers = { "content-type": "application/x-www-form-urlencoded" };
const read = (text: string) => readSignedPayload({ headers, body: Buffer.from(text), url: "" });

test("a repeated field of a form becomes a list of values", () => {
  expect(read("a=1&b=2&a=3&__proto__=4")).toEqual({ a: ["1", "3"], b: "2", ["__proto__"]: "4" });
});

test("a form of many names does not hold up the process", () => {
  const text = Array.from({ length: 100_000 }, (_, n) => n.toString(36)).join("&");
  expect(computingTime(() => read(text))).toBeLessThan(1_000);
});

test("run() gets the headers that its trigger names, without the secret that GitLab sends", () => {
  const sent = { "x-gitlab-token": "a secret", "x-gitlab-event": "Push Hook" };
  expect(pickHeaders(sent, [...Object.keys(sent), "x-absent"])).toEqual({ "x-gitlab-event": "Push Hook" });
});
