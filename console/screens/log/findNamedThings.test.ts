import { expect, test } from "vitest";
import { findNamedThings } from "./findNamedThings.ts";

const id = (n: number) => `0198c0de-0000-7000-8000-00000000000${n}`;

test("an id links to a screen only if the name of its field says what it identifies", () => {
  const data = {
    run_id: id(1),
    parent: { run_id: id(2), kind: "fork" },
    started_by: `person:${id(3)}`,
    external_user_id: "ada",
    thread_id: id(4),
    definition_id: "no id",
    owner: `key:${id(5)}`,
    source: `person:${"x".repeat(36)}`,
    files: [{ run_id: id(6) }],
    none: null,
  };
  expect(findNamedThings(data)).toEqual([
    { field: "run_id", kind: "run", id: id(1) },
    { field: "parent.run_id", kind: "run", id: id(2) },
    { field: "started_by", kind: "user", id: id(3) },
    { field: "thread_id", kind: "thread", id: id(4) },
    { field: "owner", kind: "key", id: id(5) },
  ]);
});
