import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { projections } from "./index.ts";
import type { Projection } from "./projection.ts";

const isProjection = (value: unknown): value is Projection =>
  typeof value === "object" && value !== null && "name" in value && "on" in value;

test("the list of projections holds the projection of every folder", async () => {
  const folders = readdirSync(import.meta.dirname, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(import.meta.dirname, entry.name, "project.ts")))
    .map(({ name }) => name);
  const modules = await Promise.all(
    folders.map((folder) => import(/* @vite-ignore */ `./${folder}/project.ts`) as Promise<Record<string, unknown>>),
  );
  const found = modules.flatMap((module) => Object.values(module).filter(isProjection));
  expect(projections.map(({ name }) => name).sort()).toEqual(found.map(({ name }) => name).sort());
});
