import { expect, test } from "vitest";
import { BUILT_IN_TOOLS } from "#events/tools.ts";
import { computingTime } from "#test/computingTime.ts";
import { findOwnTools } from "./requestTools.ts";

const agent = { client_tools: true, tools: ["mine"] } as unknown as Parameters<typeof findOwnTools>[2];
const find = (tools: unknown) =>
  findOwnTools({ db: {} as never }, "o", agent, { tools }, { thread_id: undefined, scope: "s" });
const [builtIn] = BUILT_IN_TOOLS;

test("a built-in name belongs to the server unless the request defines it", async () => {
  const isServerTool = async (tools: unknown) => (await find(tools))!.isServerTool(builtIn);
  expect(await isServerTool(undefined)).toBe(true);
  expect(await isServerTool("no list")).toBe(true);
  expect(await isServerTool([null, { name: "another" }])).toBe(true);
  expect(await isServerTool([{ name: builtIn }])).toBe(false);
  expect((await find([]))!.isServerTool("mine")).toBe(true);
});

test("thousands of calls are compared with thousands of tools in linear time", async () => {
  const own = await find(Array.from({ length: 20_000 }, (_, n) => ({ name: `n${n}` })));
  const ask = () => Array.from({ length: 5_000 }, () => own!.isServerTool(builtIn));
  expect(computingTime(ask)).toBeLessThan(50);
});
