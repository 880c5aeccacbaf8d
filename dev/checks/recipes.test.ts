import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MEDIA_TYPES, typeFromFileName } from "#events/mediaTypes.ts";
import { BUILT_IN_TOOLS } from "#events/tools.ts";
import { DIALECTS } from "#test/doubles/dialects.ts";
import { readable } from "#test/files/index.ts";

/* Steps of docs/extending.md that neither the compiler nor another test misses. */

const root = join(import.meta.dirname, "../..");
const filesIn = (folder: string, ending: string): string[] =>
  readdirSync(join(root, folder)).filter((name) => name.endsWith(ending));

test("every built-in tool is called by a test of a turn", () => {
  const tests = ["test/tools", "test/knowledge", "test/http"]
    .flatMap((folder) => filesIn(folder, ".test.ts").map((name) => readFileSync(join(root, folder, name), "utf8")))
    .join("\n");
  expect(BUILT_IN_TOOLS.filter((name) => !tests.includes(name))).toEqual([]);
});

test("every media type that can be read has a real file with known content", () => {
  const covered = new Set(readable.map(({ name }) => typeFromFileName(name)));
  expect(Object.values(MEDIA_TYPES).filter((type) => !covered.has(type))).toEqual([]);
});

test("every media type that can be read has a hostile file", () => {
  const names = filesIn("test/files", "ombs.ts").flatMap((name) =>
    [
      ...readFileSync(join(root, "test/files", name), "utf8").matchAll(/^ +(?:hostile\("[^"]*", )?"([\w-]+\.\w+)",/gm),
    ].map(([, file = ""]) => file),
  );
  const covered = new Set(names.map(typeFromFileName));
  expect(Object.values(MEDIA_TYPES).filter((type) => !covered.has(type))).toEqual([]);
});

test("every provider with an API of its own has a dialect that the conformance suites run against", () => {
  const providers = readdirSync(join(root, "infra/models")).filter((name) =>
    existsSync(join(root, "infra/models", name, "provider.ts")),
  );
  expect(DIALECTS.map(({ name }) => name as string).toSorted()).toEqual(providers.toSorted());
});

test("every projection has its table, and a test of its rows", () => {
  const models = readdirSync(join(root, "projections")).filter((name) =>
    existsSync(join(root, "projections", name, "project.ts")),
  );
  expect(models.filter((name) => !existsSync(join(root, "projections", name, "table.sql")))).toEqual([]);
  const shared = readFileSync(join(root, "projections/index.test.ts"), "utf8");
  const tested = (name: string) =>
    filesIn(`projections/${name}`, ".test.ts").length > 0 || shared.includes(`"${name}"`);
  expect(models.filter((name) => !tested(name))).toEqual([]);
});
