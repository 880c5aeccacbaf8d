import { expect, test } from "vitest";
import { bearerOf } from "./bearer.ts";

const refused = (code: string) => expect.objectContaining({ errorCode: code, status: 401 });

test.each([
  [["Authorization", "Bearer abc"], "abc"],
  [["Host", "x", "authorization", "bearer  abc "], "abc"],
])("%j holds a token", (headers, token) => expect(bearerOf(headers)).toBe(token));

test.each([
  ["missing_api_key", []],
  ["missing_api_key", ["Host", "x"]],
  ["missing_api_key", ["Authorization", " "]],
  ["invalid_api_key", ["Authorization", "Bearer"]],
  ["invalid_api_key", ["Authorization", "Basic abc"]],
  ["invalid_api_key", ["Authorization", "Bearer a b"]],
  ["invalid_api_key", ["Authorization", "Bearer abc", "AUTHORIZATION", "Bearer abc"]],
])("%s: %j", (code, headers) => expect(() => bearerOf(headers)).toThrow(refused(code)));
