import { readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CONSOLE_FOLDER } from "#infra/consoleFiles.ts";

/* What a browser loads, in kB of gzip. */

interface Chunk {
  file: string;
  isEntry?: boolean;
  css?: string[];
  imports?: string[];
  dynamicImports?: string[];
}

const manifest = JSON.parse(readFileSync(join(CONSOLE_FOLDER, "manifest.json"), "utf8")) as Record<string, Chunk>;
const kilobytes = (files: Iterable<string>) =>
  [...files].reduce((sum, file) => sum + readFileSync(join(CONSOLE_FOLDER, `${file}.gz`)).length, 0) / 1000;

/** The files that a chunk needs before it runs. */
function filesOf(name: string, seen = new Set<string>()): Set<string> {
  const { file, css = [], imports = [] } = manifest[name]!;
  if (seen.has(file)) return seen;
  for (const one of [file, ...css]) seen.add(one);
  for (const other of imports) filesOf(other, seen);
  return seen;
}

const entry = Object.keys(manifest).find((name) => manifest[name]!.isEntry)!;
const shell = filesOf(entry);

test("the shell of the console is at most 155 kB", () => {
  expect(kilobytes(shell)).toBeGreaterThan(50);
  expect(kilobytes(shell)).toBeLessThanOrEqual(155);
});

test("each screen adds at most 35 kB, and no first view loads more than 190 kB", () => {
  const screens = manifest[entry]!.dynamicImports!;
  expect(screens.length).toBeGreaterThan(2);
  for (const screen of screens) {
    const all = filesOf(screen, new Set(shell));
    const more = kilobytes(new Set([...filesOf(screen)].filter((file) => !shell.has(file))));
    expect(more, screen).toBeLessThanOrEqual(35);
    expect(kilobytes(all), screen).toBeLessThanOrEqual(190);
  }
});

test("the whole console is at most 500 kB", async () => {
  const files = await Array.fromAsync(glob("assets/*.{js,css}", { cwd: CONSOLE_FOLDER }));
  expect(kilobytes(files)).toBeLessThanOrEqual(500);
});

test("the PDF viewer loads at most 520 kB more, in its own frame", async () => {
  const files = await Array.fromAsync(glob("pdf/assets/*.{js,mjs,css}", { cwd: CONSOLE_FOLDER }));
  expect(files.length).toBeGreaterThan(1);
  expect(kilobytes(files)).toBeLessThanOrEqual(520);
});

test("the API reference loads at most 490 kB before the description", async () => {
  const files = await Array.fromAsync(glob("reference/*.{js,css}", { cwd: CONSOLE_FOLDER }));
  expect(files.length).toBeGreaterThan(2);
  expect(kilobytes(files)).toBeLessThanOrEqual(490);
});
