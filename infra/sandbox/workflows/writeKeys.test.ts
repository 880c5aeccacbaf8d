import { expect, test } from "vitest";
import { createWriteKeys } from "./writeKeys.ts";

const KEY = "Idempotency-Key";
const write = (url: string, body: string | null = null, method = "POST", headers: [string, string][] = []) => ({
  url,
  method,
  headers,
  body,
});
/** The keys with which one attempt sends these requests. */
function keysOf(requests: ReturnType<typeof write>[], step = "step-1"): (string | undefined)[] {
  const addKey = createWriteKeys(step);
  return requests.map((request) => {
    const sent = structuredClone(request);
    addKey(sent);
    return sent.headers.find(([name]) => name.toLowerCase() === KEY.toLowerCase())?.[1];
  });
}
const ANN = write("https://bank.example/pay", "ann");
const BOB = write("https://bank.example/pay", "bob");

test("every write of a step has a key of its own, also one that is sent twice", () => {
  const keys = keysOf([ANN, BOB, ANN, { ...ANN, method: "PUT" }, { ...ANN, url: `${ANN.url}?x` }]);
  expect(keys.every(Boolean)).toBe(true);
  expect(new Set(keys).size).toBe(5);
});

test("another attempt sends each write under the same key, in any order", () => {
  const [ann, bob, again] = keysOf([ANN, BOB, ANN]);
  expect(keysOf([BOB, ANN, ANN])).toEqual([bob, ann, again]);
  expect(keysOf([ANN], "step-2")).not.toEqual([ann]);
});

test("reads get no key, and a key of the step's own stays and is counted", () => {
  expect(keysOf([write(ANN.url, null, "GET"), write(ANN.url, null, "head")])).toEqual([undefined, undefined]);
  const own = write(ANN.url, ANN.body, "POST", [["idempotency-key", "mine"]]);
  expect(keysOf([own, ANN])).toEqual(["mine", keysOf([ANN, ANN])[1]]);
});
