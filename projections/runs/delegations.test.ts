import { expect, test } from "vitest";
import { encode } from "../projection.ts";
import { parseDelegations } from "./delegations.ts";

/** The delegations that count, of those between these people; `!` marks one without an effect of its own. */
const counting = (...stored: string[]) => {
  const delegations = stored.map((text) => {
    const [by = "", to = ""] = text.replace("!", "").split(">");
    const names = { by, by_name: encode(by), to, to_name: encode(to) };
    const rest = { reason: JSON.stringify("away"), at: "2026-01-01T00:00:00Z", present: true };
    return { ...names, ...rest, has_effect: !text.includes("!") };
  });
  return parseDelegations(delegations).flatMap(({ by, to, has_effect }) => (has_effect ? `${by.name}>${to.name}` : []));
};

test("a delegation has an effect while the person who got it has delegated it to somebody who may decide", () => {
  expect(counting("ann>bob!", "bob>cleo")).toEqual(["ann>bob", "bob>cleo"]);
  expect(counting("ann>bob!", "bob>cleo!", "cleo>dan")).toEqual(["ann>bob", "bob>cleo", "cleo>dan"]);
  expect(counting("ann>bob!", "bob>cleo!", "bob>dan")).toEqual(["ann>bob", "bob>dan"]);
  expect(counting("ann>bob!", "bob>cleo!")).toEqual([]);
});

test("a delegation has no effect if the person who got it has delegated only somebody else's vote, or delegated earlier", () => {
  expect(counting("ann>bob!", "dan>bob!", "bob>cleo")).toEqual(["dan>bob", "bob>cleo"]);
  expect(counting("bob>cleo", "ann>bob!")).toEqual(["bob>cleo"]);
});
