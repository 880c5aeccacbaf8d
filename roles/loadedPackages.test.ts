import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

/** Loads all roles as `svc all` does, and prints the packages loaded with them. */
const PROGRAM = `
  import { registerHooks } from "node:module";
  const packages = new Set();
  registerHooks({
    load(url, context, next) {
      const [, name] = /node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url) ?? [];
      if (name) packages.add(name);
      return next(url, context);
    },
  });
  await Promise.all(["http", "services", "projections"].map((role) => import(process.argv[1] + role + ".ts")));
  console.log(JSON.stringify([...packages]));
`;

/** Packages that take tens of megabytes or long to load. Only separate processes and threads load them, on demand. */
const ELSEWHERE = [
  "gpt-tokenizer",
  "typescript",
  "typescript-5",
  "unpdf",
  "@e965/xlsx",
  "tesseract.js-core",
  "quickjs-wasi",
  "@fastify/swagger",
];

test("a process starts without the packages that a process or a thread of its own loads when it is needed", async () => {
  const args = ["--input-type=module", "--eval", PROGRAM, "--", new URL("./", import.meta.url).href];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const packages = JSON.parse(stdout) as string[];
  expect(packages).toContain("fastify");
  expect(packages.filter((name) => ELSEWHERE.includes(name))).toEqual([]);
});
