import { expect, test } from "vitest";
import { ErasedOwner } from "./owner.ts";

test.each(["person:x", "user:", "foo", 5, `user:${"a".repeat(600)}`])(
  "the owner %j is refused with what would be right",
  (owner) => {
    expect(ErasedOwner.safeParse(owner).error?.issues.map(({ message }) => message)).toEqual([
      "must be key:<id>, person:<id>, agent:<id> or user:<value> of at most 595 characters.",
    ]);
  },
);
