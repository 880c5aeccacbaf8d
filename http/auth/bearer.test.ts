import { expect, test } from "vitest";
import { readBearerToken } from "./bearer.ts";

const refused = (code: string) => expect.objectContaining({ errorCode: code, status: 401 });

test.each([
  [["Authorization", "Bearer abc"], "abc"],
  [["Host", "x", "authorization", "bearer  abc "], "abc"],
])("the bearer token is read from the headers %j", (headers, token) => expect(readBearerToken(headers)).toBe(token));

test.each([
  ["missing_api_key", []],
  ["missing_api_key", ["Host", "x"]],
  ["missing_api_key", ["Authorization", " "]],
  ["invalid_api_key", ["Authorization", "Bearer"]],
  ["invalid_api_key", ["Authorization", "Basic abc"]],
  ["invalid_api_key", ["Authorization", "Bearer a b"]],
  ["invalid_api_key", ["Authorization", "Bearer abc", "AUTHORIZATION", "Bearer abc"]],
])("the error %s answers the headers %j", (code, headers) =>
  expect(() => readBearerToken(headers)).toThrow(refused(code)),
);
