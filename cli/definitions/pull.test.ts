import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { Service } from "../service.ts";
import { chooseFile, pullInto } from "./pull.ts";
import { replaceFiles } from "./replaceFiles.ts";

const home = await mkdtemp(join(tmpdir(), "pull-"));
afterAll(() => rm(home, { recursive: true }));

/** A service with two workflows, of which it may not be able to send the second. */
const serviceOf = (texts: Record<string, string | undefined>): Service => ({
  url: "http://service",
  download: () => Promise.reject(new Error("nothing to download")),
  async call(_method, path) {
    if (path.startsWith("/definitions?")) {
      const data = Object.keys(texts).map((name) => ({ id: name, type: "workflow", name, version: 2 }));
      return { data, total: data.length };
    }
    const [, name = "", versions] = /^\/definitions\/(\w+)(\/versions)?/.exec(path) ?? [];
    if (versions) return { data: [{ version: 1, source: "old" }] };
    if (texts[name] === undefined) throw new Error("the service went away");
    return { source: texts[name] };
  },
});

test("a tool and a workflow of one name do not overwrite each other: the second has no file", () => {
  const files = new Map<string, string>();
  expect(chooseFile("flows", files, { type: "workflow", name: "refund" })).toBe("flows/refund.ts");
  expect(chooseFile("flows", files, { type: "tool", name: "refund" })).toBeUndefined();
  expect(chooseFile("flows", files, { type: "workflow", name: "refund" })).toBe("flows/refund.ts");
});

test("a definition that is in a file of another name stays there", () => {
  const files = new Map([["tool refund", "flows/money.ts"]]);
  expect(chooseFile("flows", files, { type: "tool", name: "refund" })).toBe("flows/money.ts");
  expect(chooseFile("flows", files, { type: "tool", name: "money" })).toBeUndefined();
});

test("a pull that fails half-way changes no file", async () => {
  const folder = await mkdtemp(join(home, "flows-"));
  writeFileSync(join(folder, "first.ts"), "old");
  const files = new Map([["workflow first", join(folder, "first.ts")]]);
  const read = () => readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]);
  const pull = (service: Service) => pullInto(folder, service, { files: new Map(files), isForced: false });
  await expect(pull(serviceOf({ first: "new", second: undefined }))).rejects.toThrow("went away");
  expect(read()).toEqual([["first.ts", "old"]]);
  expect(await pull(serviceOf({ first: "new", second: "new too" }))).toBe(true);
  expect(read().toSorted()).toEqual([
    ["first.ts", "new"],
    ["second.ts", "new too"],
  ]);
});

test("two texts for one file change nothing", async () => {
  const folder = await mkdtemp(join(home, "twins-"));
  const file = join(folder, "first.ts");
  writeFileSync(file, "old");
  const texts = ["new", "other"].map((text) => ({ file, text }));
  await expect(replaceFiles(texts)).rejects.toThrow(expect.objectContaining({ code: "EEXIST", path: file }));
  expect([readdirSync(folder), readFileSync(file, "utf8")]).toEqual([["first.ts"], "old"]);
});

test("files are replaced only if all of them can be written, and keep their modes", async () => {
  const folder = await mkdtemp(join(home, "files-"));
  const [first, lost] = [join(folder, "first.ts"), join(folder, "missing", "second.ts")];
  writeFileSync(first, "old", { mode: 0o600 });
  const texts = [first, lost].map((file) => ({ file, text: "new" }));
  await expect(replaceFiles(texts)).rejects.toThrow(expect.objectContaining({ code: "ENOENT", path: lost }));
  expect([readdirSync(folder), readFileSync(first, "utf8")]).toEqual([["first.ts"], "old"]);
  await replaceFiles(texts.slice(0, 1));
  expect(readFileSync(first, "utf8")).toBe("new");
  expect(statSync(first).mode & 0o777).toBe(0o600);
});
