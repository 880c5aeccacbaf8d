import { expect, test } from "vitest";
import { canonicalJson } from "./canonicalJson.ts";

test("canonical JSON sorts all names, __proto__ among them", () => {
  expect(canonicalJson(JSON.parse('{"b":{"d":1,"c":[{"z":1,"y":2}]},"a":null,"__proto__":{"x":1},"10":1,"9":2}'))).toBe(
    '{"10":1,"9":2,"__proto__":{"x":1},"a":null,"b":{"c":[{"y":2,"z":1}],"d":1}}',
  );
});
