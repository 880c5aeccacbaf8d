import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { expect, test } from "vitest";

const http = join(import.meta.dirname, "../../http");
const MAX_ARROWS = 50;

/** A folder of `http`; its own files are the room that assembles the others. */
const room = (file: string): string => {
  const [folder = "", ...rest] = relative(http, file).split(sep);
  return rest.length > 0 ? folder : "http";
};

test("the rooms of http draw at most 50 arrows between them", () => {
  const arrows = new Set<string>();
  for (const name of globSync("**/*.ts", { cwd: http, exclude: ["**/*.test.ts", "**/testing/**"] })) {
    const file = join(http, name);
    for (const [, path = ""] of readFileSync(file, "utf8").matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)) {
      const [from, to] = [room(file), room(join(dirname(file), path))];
      if (from !== to) arrows.add(`${from} -> ${to}`);
    }
  }
  // far fewer would mean that the imports are no longer found
  expect(arrows.size).toBeGreaterThan(30);
  expect([...arrows].toSorted().slice(MAX_ARROWS), `${arrows.size} arrows`).toEqual([]);
});
