import { spawn } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { testFolder } from "../harness.ts";
import { openTwoTenants } from "../accounts/tenants.ts";

/* The commands of docs/developing.md, pasted into a shell. Its workflow is the first one of docs/workflows.md. */

const root = fileURLToPath(new URL("../..", import.meta.url));
const readPage = (name: string): string => readFileSync(join(root, "docs", name), "utf8");
const blocks = [...readPage("developing.md").matchAll(/^```(\w*)\n([^]*?)^```/gm)].map(
  ([, language = "", lines = ""]) => ({
    language,
    lines,
  }),
);
const [runIt = "", pushIt = ""] = blocks.filter(({ language }) => language === "").map(({ lines }) => lines);
const [answers = "", cases = ""] = blocks.filter(({ language }) => language === "json").map(({ lines }) => lines);
const REFUND = readPage("workflows.md").match(/```ts\n([^]*?)```/)![1]!;

/** Lines in a shell where `svc` is the command of this repository. `typed`: what a person types. */
async function paste(lines: string, { cwd = root, typed = "", env = {} } = {}) {
  const names = `svc() { node "${join(root, "svc.mjs")}" "$@"; }\n`;
  const { PATH = "", HOME = "" } = process.env;
  const shell = spawn("bash", ["-e", "-c", names + lines], { cwd, env: { PATH, HOME, ...env } });
  shell.stdin.end(typed);
  const ended = new Promise<number | null>((resolve) => shell.once("exit", resolve));
  const [stdout, stderr] = await Promise.all([text(shell.stdout), text(shell.stderr)]);
  return { code: await ended, stdout, stderr };
}

async function refundFolder(): Promise<string> {
  const folder = join(await testFolder(), "workflows");
  mkdirSync(folder);
  writeFileSync(join(folder, "refund.ts"), REFUND);
  return folder;
}

test("every block of the page is run", () => {
  expect(blocks.map(({ language }) => language)).toEqual(["", "json", "json", ""]);
});

test("a workflow is tried on the terminal", async () => {
  const ran = await paste(runIt, { typed: 'approve\n{"amount": 5}\nfine\n' });
  expect(ran).toMatchObject({ code: 0, stderr: "" });
  expect(ran.stdout).toMatch(/approval budget "Budget for A\?" .*approval\.ts:\d+:\d+/);
  expect(ran.stdout).toMatch(/completed \{[^}]*"budget": 5/);
});

test("the page's answers file answers a run", async () => {
  const folder = await refundFolder();
  writeFileSync(join(folder, "answers.json"), answers);
  const args = JSON.stringify({ order: "A", amount: 900 });
  const ran = await paste(`svc run refund.ts --args '${args}' --answers answers.json`, { cwd: folder });
  expect(ran).toMatchObject({ code: 0, stderr: "" });
  expect(ran.stdout).toMatch(/completed \{\s*"refunded": true,\s*"receipt": \{\s*"receipt": "A-17"/);
});

test("the case of the page passes", async () => {
  const folder = await refundFolder();
  writeFileSync(join(folder, "refund.test.json"), cases);
  const ran = await paste("svc definitions test .", { cwd: folder });
  expect(ran).toMatchObject({ code: 0, stdout: expect.stringMatching(/^1 of 1 cases passed$/m) });
});

test("a folder is checked and saved by a builder", async () => {
  const { home } = await openTwoTenants();
  const email = "builder@example.org";
  const { password } = await home.made(home.owner("POST", "/members", { email, name: "Bo", role: "builder" }));
  const folder = await refundFolder();
  cpSync(join(root, "examples/workflows/hello.ts"), join(folder, "hello.ts"));
  const lines = pushIt.replace("https://assistant.example", home.url).replace("PASSWORD=…", `PASSWORD='${password}'`);
  const ran = await paste(lines, { cwd: join(folder, "..") });
  expect(ran).toMatchObject({ code: 0, stderr: "" });
  const saved = (await home.made(home.owner("GET", "/definitions"))).data.map(({ name }: { name: string }) => name);
  expect(saved.toSorted()).toEqual(["hello", "refund"]);
});
