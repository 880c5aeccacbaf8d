import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { testFolder } from "#test/harness.ts";

const MAIN = fileURLToPath(new URL("../../main.ts", import.meta.url));
export const EXAMPLES = fileURLToPath(new URL("../../examples/workflows", import.meta.url));

/** A folder without credentials of a service. */
const NO_DATA = join(tmpdir(), "svc-no-data");

/** Runs svc without a service; `input` is what somebody types. */
export function svc(
  args: string[],
  input = "",
  more: Record<string, string> = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [MAIN, ...args],
      { env: { PATH: process.env["PATH"]!, DATA_DIR: NO_DATA, ...more } },
      (_, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
    );
    child.stdin!.end(input);
  });
}

const SOURCE = `import { defineStep } from "svc:workflow";
export const meta = { args: { type: "object", properties: { sku: { type: "string" } }, required: ["sku"] } };
export const steps = {
  price: ({ sku }: { sku: string }) => ({ sku, cents: 250 }),
  load: defineStep({ retries: 1, backoff: { kind: "fixed", initial_ms: 1, jitter: 0 } }, async ({ url }, ctx) => {
    const answer = await ctx.fetch(url, { headers: { "x-key": await ctx.secrets.get("key") } });
    if (ctx.attempt === 1) throw new Error("again");
    return { status: answer.status, attempt: ctx.attempt };
  }),
};
export async function run(ctx, { sku, url }) {
  ctx.log("begins");
  if (url) return ctx.runStep("load", { url });
  const { cents } = await ctx.runStep("price", { sku });
  const { approved } = await ctx.awaitApproval("boss", { title: "Buy?" });
  if (!approved) throw new RangeError("not bought");
  await ctx.sleep("2d");
  return { cents, late: ctx.now("end") - Date.now() };
}`;

/** A folder with a definition and its cases. */
export async function folderWith(cases: object[], source = SOURCE) {
  const folder = await testFolder();
  const file = join(folder, "buy.ts");
  writeFileSync(file, source);
  writeFileSync(join(folder, "buy.test.json"), JSON.stringify({ cases }));
  return {
    folder,
    file,
    write: (name: string, value: object) => writeFileSync(join(folder, name), JSON.stringify(value)),
  };
}
