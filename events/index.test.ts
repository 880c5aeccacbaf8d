import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { exportedCommands, exportedEvents } from "./define.ts";
import { commandDefinitions, eventDefinitions } from "./index.ts";

const names = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
  .map((name) => name.slice(0, -".ts".length));
const modules = await Promise.all(names.map((name) => import(/* @vite-ignore */ `./${name}.ts`)));
const types = (definitions: Iterable<{ type: string }>) => [...definitions].map(({ type }) => type).sort();

describe("the registry holds, exactly once,", () => {
  test("every event that a file of events/ exports", () => {
    expect(types(eventDefinitions.values())).toEqual(types(modules.flatMap(exportedEvents)));
  });

  test("every command that a file of events/ exports", () => {
    expect(types(commandDefinitions.values())).toEqual(types(modules.flatMap(exportedCommands)));
  });
});
