import { expect, test } from "vitest";
import { EndpointFailed } from "../searchEndpoints.ts";
import { findPayable } from "./findPayable.ts";

/** Lists two documents at a time. `spent`: payers whose budget has no room. */
function find(documents: [id: string, principal: string | null][], spent: string[]) {
  const checked: string[] = [];
  const found = findPayable({
    list: async (except) =>
      documents
        .map(([id, principal]) => ({ id, principal }))
        .filter(({ principal }) => !except.includes(principal ?? ""))
        .slice(0, 2),
    findRefusal: async (payer) => {
      checked.push(payer);
      return spent.includes(payer) ? `The budget of ${payer} is used up.` : undefined;
    },
  });
  return { found, checked };
}

test("a payer without money does not keep the older documents of others without vectors", async () => {
  const { found, checked } = find(
    [
      ["1", "key:a"],
      ["2", "key:a"],
      ["3", "key:a"],
      ["4", "key:b"],
      ["5", null],
    ],
    ["key:a"],
  );
  expect(await found).toEqual(["4", "5"]);
  expect(checked).toEqual(["key:a", "key:b", ""]);
});

test("if only payers without money have documents, the reason is thrown", async () => {
  await expect(find([["1", "key:a"]], ["key:a"]).found).rejects.toThrow(EndpointFailed);
  expect(await find([], ["key:a"]).found).toEqual([]);
});
