import { expect, test } from "vitest";
import { ErasedOwner } from "./owner.ts";

test.each(["person:x", "user:", "foo", 5, `user:${"a".repeat(8_000)}`])(
  "the owner %j is refused with what would be right",
  (owner) => {
    expect(ErasedOwner.safeParse(owner).error?.issues.map(({ message }) => message)).toEqual([
      "must be key:<id>, person:<id>, agent:<id> or user:<value> of at most 7,995 characters.",
    ]);
  },
);

test("an external user is named by any value of `user` that clients send", () => {
  const owner = `user:${"a".repeat(7_995)}`;
  expect(ErasedOwner.parse(owner)).toBe(owner);
});
