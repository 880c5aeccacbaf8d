import { execFile } from "node:child_process";
import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { signIn } from "../agents/agents.ts";
import { testFolder } from "../harness.ts";
import { openPlatform } from "../sharedPlatform.ts";

/* Clients that generators make of /openapi.json: they compile, their types are those of the service, and their calls work. */

const ROOT = join(import.meta.dirname, "../..");
const FIXTURES = join(import.meta.dirname, "generated");
const run = promisify(execFile);

const { platform } = await openPlatform();
const { url } = platform;
const { api_key, admin } = await platform.organization();
const { token } = await signIn(url, admin);
const settings = JSON.stringify({ url, api_key, session: token });
const description: any = await (await fetch(`${url}/openapi.json`)).json();

const TSCONFIG = {
  compilerOptions: {
    target: "esnext",
    lib: ["esnext", "dom", "dom.iterable"],
    module: "nodenext",
    types: ["node"],
    noEmit: true,
    strict: true,
    noUncheckedIndexedAccess: true,
    allowImportingTsExtensions: true,
    erasableSyntaxOnly: true,
    skipLibCheck: true,
  },
  include: ["*.ts", "client/**/*.ts"],
};

/** A folder with a client that was generated from a description, and the calls. */
async function generate(kind: string, from: object): Promise<string> {
  const folder = await testFolder();
  await mkdir(join(folder, "client"));
  await Promise.all([
    writeFile(join(folder, "openapi.json"), JSON.stringify(from)),
    writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" })),
    writeFile(join(folder, "tsconfig.json"), JSON.stringify(TSCONFIG)),
    symlink(join(ROOT, "node_modules"), join(folder, "node_modules")),
    cp(join(FIXTURES, `${kind}.ts`), join(folder, "calls.ts")),
    cp(join(FIXTURES, "shared.ts"), join(folder, "shared.ts")),
  ]);
  const hook = join(FIXTURES, "resolveTypescript.mjs");
  await run(process.execPath, ["--import", hook, join(FIXTURES, "generate.mjs"), kind, folder], { cwd: ROOT });
  return folder;
}

/** What the compiler says of a folder; empty when nothing. */
const compile = (folder: string): Promise<string> =>
  run(join(ROOT, "node_modules/.bin/tsc"), ["-p", folder, "--pretty", "false"], { cwd: folder }).then(
    ({ stdout }) => stdout,
    ({ stdout }) => stdout,
  );

describe.each(["openapiFetch", "heyApi"])("the client %s", (kind) => {
  test("compiles, and its calls to every API family work", async () => {
    const folder = await generate(kind, description);
    expect(await compile(folder)).toBe("");
    const { stdout } = await run(process.execPath, [join(folder, "calls.ts")], {
      cwd: folder,
      env: { ...process.env, SETTINGS: settings },
    });
    expect(JSON.parse(stdout)).toEqual({
      chat: { texts: ["Hello", null, true], reason: "stop", roles: ["user", "assistant"] },
      files: { name: "note.txt", content: "A note.", listed: true, deleted: true },
      models: { listed: true, one: "model" },
      agents: { text: ["Good morning"], same: true, status: "completed", version: 2 },
      knowledge: { names: ["refunds.md"], total: 1 },
      extraction: { markdown: expect.stringMatching(/^# By /) },
      workflows: { status: "pending", scheme: "hmac", steps: ["double"] },
      approvals: { title: "Go?", status: "approved", decision: "approve", comment: "Fine." },
      runs: { result: { approved: true, doubled: 14 }, steps: [["double", "completed"]], listed: true },
      hooks: { same: true, started: true },
      keys: { shown: true, enabled: false, several: true },
      members: { role: "viewer", email: expect.stringMatching(/@example\.org$/) },
      usage: { group_by: "model", several: true },
      events: { types: ["TurnStarted"] },
      operations: { several: true, kinds: [] },
      errors: { data: true, status: expect.any(Number), code: expect.any(String) },
    });
  });

  test("does not compile against a description with a wrong type", async () => {
    const wrong = structuredClone(description);
    const { properties } = wrong.components.schemas.ChatCompletion;
    properties.choices.items.properties.message.properties.content = { type: "integer" };
    expect(await compile(await generate(kind, wrong))).toMatch(/^calls\.ts\(\d+,\d+\): error TS/m);
  });

  test("does not compile against a description that lacks a value", async () => {
    const vague = structuredClone(description);
    vague.components.schemas.Approval.properties.decision = {};
    expect(await compile(await generate(kind, vague))).toMatch(/^calls\.ts\(\d+,\d+\): error TS/m);
  });
});
