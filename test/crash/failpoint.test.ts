import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

const program = `
  const { failpoint } = await import("./infra/failpoint.ts");
  for (let pass = 1; pass <= 3; pass++) { failpoint("here"); failpoint("there"); process.stdout.write(String(pass)); }
`;
const run = (env: Record<string, string>) =>
  spawnSync(process.execPath, ["--input-type=module", "-e", program], { env, encoding: "utf8" });

test("a process ends itself at the pass that is named", () => {
  const { signal, stdout } = run({ FAIL_AT: "here:3" });
  expect([signal, stdout]).toEqual(["SIGKILL", "12"]);
});

test("without the variable nothing happens", () => {
  expect(run({})).toMatchObject({ status: 0, stdout: "123" });
});

test("in production the variable is refused", () => {
  const { status, stderr } = run({ FAIL_AT: "here:1", NODE_ENV: "production" });
  expect(status).toBe(1);
  expect(stderr).toContain("FAIL_AT");
});
