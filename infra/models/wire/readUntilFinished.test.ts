import { expect, test } from "vitest";
import { readUntilFinished } from "./readUntilFinished.ts";

/** Pieces that are all there already, as in one packet of the network. */
async function* endless(): AsyncGenerator<object[]> {
  for (;;) yield Array<object>(1_000).fill({});
}

test("an answer of pieces without content is cut, and other work runs meanwhile", async () => {
  let otherWork = 0;
  const next = () => void (otherWork += 1);
  const read = async () => {
    for await (const _ of readUntilFinished(
      async () => endless(),
      () => false,
      new AbortController().signal,
    ))
      if (otherWork % 2 === 0) {
        otherWork += 1;
        setImmediate(next);
      }
  };
  await expect(read()).rejects.toMatchObject({ kind: "cut", message: "The provider's answer never ends." });
  expect(otherWork).toBeGreaterThan(4);
});
