import { expect, test } from "vitest";
import { ALIAS_NAME, drawOrder } from "./route.ts";

test("targets without weights keep their order", () =>
  expect(drawOrder([{ model: "p/a" }, { model: "p/b" }])).toEqual(["p/a", "p/b"]));

test("targets with weights are drawn in proportion, and those of weight 0 come last", () => {
  const targets = [
    { model: "p/spare", weight: 0 },
    { model: "p/a", weight: 9 },
    { model: "p/b", weight: 1 },
  ];
  const orders = Array.from({ length: 1_000 }, (_, n) => drawOrder(targets, { random: () => (n % 10) / 10 }));
  expect(orders.filter(([first]) => first === "p/a")).toHaveLength(900);
  expect(orders.filter(([first]) => first === "p/b")).toHaveLength(100);
  for (const order of orders) expect(order.at(-1)).toBe("p/spare");
});

test("a process asks the targets of its region first, and one of weight 0 still after all that have a share", () => {
  const inOrder = [{ model: "p/us", region: "us" }, { model: "p/any" }, { model: "p/eu", region: "eu" }];
  expect(drawOrder(inOrder, { region: "eu" })).toEqual(["p/eu", "p/us", "p/any"]);
  for (const region of [undefined, "asia"]) expect(drawOrder(inOrder, { region })).toEqual(["p/us", "p/any", "p/eu"]);
  const weighted = [
    { model: "p/spare", weight: 0, region: "eu" },
    { model: "p/a", weight: 9, region: "us" },
    { model: "p/b", weight: 1, region: "eu" },
  ];
  expect(drawOrder(weighted, { region: "eu", random: () => 0 })).toEqual(["p/b", "p/a", "p/spare"]);
});

test("a name with a slash is no alias", () => {
  expect(ALIAS_NAME.test("fast")).toBe(true);
  expect(ALIAS_NAME.test("openai/gpt-test")).toBe(false);
});
