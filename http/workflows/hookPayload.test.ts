import { expect, test } from "vitest";
import { computingTime } from "../../test/computingTime.ts";
import { pickHeaders, readSignedPayload } from "./hookPayload.ts";
import { twilioTexts } from "./twilioTexts.ts";

const headers = { "content-type": "application/x-www-form-urlencoded" };
const read = (text: string) => readSignedPayload({ headers, body: Buffer.from(text), url: "" });

test("a repeated field of a form becomes a list of values", () => {
  expect(read("a=1&b=2&a=3&__proto__=4")).toEqual({ a: ["1", "3"], b: "2", ["__proto__"]: "4" });
});

const manyNames = (length: number) => Array.from({ length }, (_, n) => n.toString(36)).join("&");

test("a form of 5,000 names is read in less than 50 ms, and one of more is refused, also before its signature is checked", () => {
  expect(computingTime(() => read(manyNames(5_000)))).toBeLessThan(50);
  const refused = expect.objectContaining({ errorCode: "invalid_payload", status: 400 });
  for (const text of [manyNames(200_000), "&".repeat(5_000)]) {
    expect(() => read(text)).toThrow(refused);
    expect(() => twilioTexts({ url: "https://example.com/hook", body: Buffer.from(text) })).toThrow(refused);
  }
});

test("run() gets the headers that its trigger names, without the secret that GitLab sends", () => {
  const sent = { "x-gitlab-token": "a secret", "x-gitlab-event": "Push Hook" };
  expect(pickHeaders(sent, [...Object.keys(sent), "x-absent"])).toEqual({ "x-gitlab-event": "Push Hook" });
});
