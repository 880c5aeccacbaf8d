import { readFile, writeFile } from "node:fs/promises";
import { beforeAll, expect, test } from "vitest";
import type { ErrorExamples } from "#http/meta/errorExamples.ts";
import { listRoutes, openHomeAndForeign } from "../accounts/everyRoute.ts";
import { startPlatform } from "../platform.ts";
import { askWrongly, makeMistakes } from "./errors/askWrongly.ts";
import { toExamples } from "./errors/refusals.ts";

/*
 * The errors that the API description shows of each route are what a running service answers.
 * `WRITE_ANSWERS=1 npm run drill -- test/docs/errors` writes http/meta/errors.json again.
 */

const FILE = new URL("../../http/meta/errors.json", import.meta.url);

let real: ErrorExamples;
let routes: string[];
beforeAll(async () => {
  const platform = await startPlatform();
  const stage = await openHomeAndForeign(platform);
  routes = await listRoutes(platform.url);
  real = toExamples([...(await makeMistakes(stage)), ...(await askWrongly(stage, routes))]);
  if (process.env["WRITE_ANSWERS"]) await writeFile(FILE, `${JSON.stringify(real, null, 1)}\n`);
});

test("each documented error is what the route returns, and each provoked error is documented", async () => {
  expect(Object.keys(real.operations).length).toBeGreaterThan(100);
  expect(JSON.parse(await readFile(FILE, "utf8"))).toEqual(real);
});
