import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

/** Loads what starts a process, then these roles, and prints the packages loaded with them. */
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
  const [root, ...roles] = process.argv.slice(1);
  await import(root + "cli/start.ts");
  await Promise.all(roles.map((role) => import(root + "roles/" + role + ".ts")));
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

async function loadRoles(...roles: string[]): Promise<string[]> {
  const root = new URL("../", import.meta.url).href;
  const args = ["--input-type=module", "--eval", PROGRAM, "--", root, ...roles];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as string[];
}

test("a process starts without the packages that a process or a thread of its own loads when it is needed", async () => {
  const packages = await loadRoles("http", "services", "projections");
  expect(packages).toContain("fastify");
  expect(packages.filter((name) => ELSEWHERE.includes(name))).toEqual([]);
});

test("a process with one role starts without the packages of the others", async () => {
  const [services, projections] = await Promise.all([loadRoles("services"), loadRoles("projections")]);
  expect(services).toContain("undici");
  expect(services).not.toContain("fastify");
  expect(projections).toContain("pg");
  expect(projections.filter((name) => ["fastify", "undici", "@anthropic-ai/sdk", "file-type"].includes(name))).toEqual(
    [],
  );
});
