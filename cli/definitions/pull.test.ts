import { expect, test } from "vitest";
import { chooseFile } from "./pull.ts";

test("a tool and a workflow of one name do not overwrite each other: the second has no file", () => {
  const files = new Map<string, string>();
  expect(chooseFile("flows", files, { type: "workflow", name: "refund" })).toBe("flows/refund.ts");
  expect(chooseFile("flows", files, { type: "tool", name: "refund" })).toBeUndefined();
  expect(chooseFile("flows", files, { type: "workflow", name: "refund" })).toBe("flows/refund.ts");
});

test("a definition that is in a file of another name stays there", () => {
  const files = new Map([["tool refund", "flows/money.ts"]]);
  expect(chooseFile("flows", files, { type: "tool", name: "refund" })).toBe("flows/money.ts");
  expect(chooseFile("flows", files, { type: "tool", name: "money" })).toBeUndefined();
});
