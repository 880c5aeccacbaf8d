import { expect, test } from "vitest";
import { parseStepRequest } from "./stepRequest.ts";

test.each([
  ["without a key", "step:fail:1:-:a{}", { isMany: false, mode: "fail", name: "a", userKey: null, json: "{}" }],
  ["with a key", 'step:fail:1:3:akey{"n":1}', { name: "a", userKey: "key", json: '{"n":1}' }],
  ["with an empty key", "step:fail:1:0:a{}", { name: "a", userKey: "", json: "{}" }],
  ["of many items", "many:return:2:-:ab[1,2]", { isMany: true, mode: "return", name: "ab", json: "[1,2]" }],
  [
    "whose name and key look like its syntax",
    "step:fail:4:4:9:-:1:-:[]",
    { name: "9:-:", userKey: "1:-:", json: "[]" },
  ],
])("A step request %s is parsed", (_, text, parsed) => {
  expect(parseStepRequest(text)).toMatchObject({ text, ...parsed });
});
