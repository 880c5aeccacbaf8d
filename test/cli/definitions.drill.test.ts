import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { testFolder } from "#test/harness.ts";
import { openWorkflows } from "../workflows/harness.ts";
import { svc } from "./localDefinition.ts";

/* Definitions that are files: `svc definitions push`, `pull`, `list` and `check` against a running service. */

const w = await openWorkflows();
const home = await w.join("Files");

const ASKS = `export async function run(ctx, { n }) {
  await ctx.sleep(1);
  return { n };
}
`;
const TOOL = `export const meta = { name: "stock" };
export const execute = () => 1;
`;

/** Runs a command as a builder of the organization. */
const definitions = (args: string[], env: Record<string, string> = {}) =>
  svc(["definitions", ...args], "", { SVC_URL: w.url, SVC_SESSION: home.token, ...env });
async function ok(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await definitions(args);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout;
}
async function folderWith(files: Record<string, string>): Promise<string> {
  const folder = await testFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}
const remote = async (name: string) =>
  (await home.made(home.owner("GET", "/definitions?limit=500"))).data.find((each: any) => each.name === name);

describe("svc definitions", () => {
  test("push saves changed definitions and lists them, and pull keeps edits that were never saved", async () => {
    const folder = await folderWith({ "asks.ts": ASKS, "shelf.ts": TOOL });
    expect(await ok("push", folder, "--dry-run")).toMatch(/would create workflow asks .*\nwould create tool stock /);
    expect(await remote("asks")).toBeUndefined();
    expect(await ok("push", folder)).toBe("created workflow asks: version 1\ncreated tool stock: version 1\n");
    expect(await ok("push", folder)).toBe("unchanged workflow asks: version 1\nunchanged tool stock: version 1\n");
    await home.register(undefined, {}, { definition_id: (await remote("asks")).id });

    const longer = ASKS.replace("return { n };", "const twice = 2 * n;\n  return { n: twice };");
    writeFileSync(join(folder, "asks.ts"), longer);
    expect(await ok("push", folder, "--dry-run")).toMatch(
      /would save workflow asks over version 1 \(from line 3: 1 lines removed, 2 added\)/,
    );
    expect(await ok("push", join(folder, "asks.ts"))).toMatch(
      /^saved workflow asks: version 2 .*\n {2}Version 2 is saved, and one workflow stays/,
    );
    expect((await remote("asks")).version).toBe(2);
    expect(await ok("list", folder)).toMatch(/workflow +asks +2 .*asks\.ts +same\n/);

    const other = await folderWith({ "asks.ts": ASKS });
    expect(await ok("pull", other)).toMatch(
      /wrote .*asks\.ts: workflow asks, version 2 over version 1\nwrote .*stock\.ts: /,
    );
    expect(readFileSync(join(other, "asks.ts"), "utf8")).toBe(longer);
    expect(readdirSync(other).toSorted()).toEqual(["asks.ts", "stock.ts"]);
    writeFileSync(join(other, "asks.ts"), `${longer}// mine\n`);
    const kept = await definitions(["pull", other]);
    expect(kept).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/kept .*asks\.ts: .* overwrite it with --force\n/),
    });
    expect(readFileSync(join(other, "asks.ts"), "utf8")).toContain("// mine");
    expect(await ok("list", other)).toMatch(/asks\.ts +differs/);
    expect(await ok("pull", other, "--force")).toContain("over edits");
    expect(readFileSync(join(other, "asks.ts"), "utf8")).toBe(longer);
  });

  test("check names each run that would take a different path, and fails in CI unless that is allowed", async () => {
    const workflow = await home.register(ASKS.replace("sleep", "sleep"));
    const definition = (await home.made(home.owner("GET", `/definitions/${workflow.definition.id}`))).name;
    const run = await home.start(workflow, { n: 1 });
    await home.untilOver(run);
    const folder = await folderWith({ [`${definition}.ts`]: ASKS });
    const file = join(folder, `${definition}.ts`);
    expect(await ok("check", folder)).toContain(
      `same       ${run} completed\n${file}: 1 runs checked: 1 same, 0 different`,
    );
    writeFileSync(file, ASKS.replace("{ n };", "{ n: n + 1 };"));
    const different = await definitions(["check", file]);
    expect(different.code).toBe(1);
    expect(different.stdout).toContain(`different  ${run} completed: the result differs (/n)\n`);
    expect((await definitions(["check", file, "--allow-different"])).code).toBe(0);
    writeFileSync(file, ASKS.replace("return", "throw new Error('no');\n  return"));
    const failed = await definitions(["check", file]);
    expect([failed.code, failed.stdout]).toEqual([
      1,
      expect.stringContaining(`failed     ${run} completed: ${file}:3:`),
    ]);
    writeFileSync(file, "export const run = ;");
    const broken = await definitions(["check", "--local", file]);
    expect([broken.code, broken.stderr]).toEqual([1, expect.stringContaining(`${file}:1:20: `)]);
  });

  test("report what is missing: an account, a service or the required role", async () => {
    const folder = await folderWith({ "asks.ts": ASKS });
    const nobody = await definitions(["push", folder], { SVC_SESSION: "", SVC_API_KEY: "sk-svc-x" });
    expect([nobody.code, nobody.stderr]).toEqual([
      1,
      expect.stringMatching(/an API key may not save definitions: set SVC_EMAIL/),
    ]);
    const { port } = new URL(w.url);
    const away = await definitions(["list"], { SVC_URL: `http://127.0.0.1:${port === "1" ? 2 : 1}` });
    expect(away.stderr).toMatch(/gave no answer .*: start it, or set --url or SVC_URL/);
    const { token } = await home.member("viewer");
    expect((await definitions(["list"], { SVC_SESSION: token })).stderr).toMatch(/sign in as a builder/);
    const { admin } = home.credentials;
    const signedIn = { SVC_SESSION: "", SVC_EMAIL: admin.email, SVC_PASSWORD: admin.password };
    expect((await definitions(["list"], signedIn)).stdout).toMatch(/^TYPE /);
    expect((await definitions(["list"], { ...signedIn, SVC_PASSWORD: "no" })).stderr).toMatch(
      /check SVC_EMAIL and SVC_PASSWORD/,
    );
  });
});
