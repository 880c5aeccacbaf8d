import { expect, test } from "vitest";
import { EndpointFailed } from "../searchEndpoints.ts";
import { findPayable, type Payer } from "./findPayable.ts";

const nameOf = ({ principal, project_id }: Payer): string => project_id ?? principal ?? "";

/** Lists two documents at a time. `spent`: keys and projects whose budget has no room. */
function find(documents: [id: string, principal: string | null, project_id?: string][], spent: string[]) {
  const checked: string[] = [];
  const found = findPayable({
    list: async (except) =>
      documents
        .map(([id, principal, project_id = null]) => ({ id, principal, project_id }))
        .filter((one) => !except.some((payer) => nameOf(payer) === nameOf(one)))
        .slice(0, 2),
    findRefusal: async (payer) => {
      checked.push(nameOf(payer));
      return spent.includes(nameOf(payer)) ? `The budget of ${nameOf(payer)} is used up.` : undefined;
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

test("a project without money does not keep documents that steps of other projects pushed without vectors", async () => {
  const { found } = find(
    [
      ["1", "system", "a"],
      ["2", "system", "a"],
      ["3", "system", "b"],
      ["4", "system"],
    ],
    ["a"],
  );
  expect(await found).toEqual(["3", "4"]);
});

test("if only payers without money have documents, the reason is thrown", async () => {
  await expect(find([["1", "key:a"]], ["key:a"]).found).rejects.toThrow(EndpointFailed);
  expect(await find([], ["key:a"]).found).toEqual([]);
});
