import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

const program = `
  const { failpoint } = await import("./infra/failpoint.ts");
  for (let pass = 1; pass <= 3; pass++) { failpoint("here"); failpoint("there"); process.stdout.write(String(pass)); }
`;
const run = (env: Record<string, string>) =>
  spawnSync(process.execPath, ["--input-type=module", "-e", program], { env, encoding: "utf8" });

test("a process with FAIL_AT exits at the given pass of the failpoint", () => {
  const { signal, stdout } = run({ FAIL_AT: "here:3" });
  expect([signal, stdout]).toEqual(["SIGKILL", "12"]);
});

test("a process without FAIL_AT passes every failpoint", () => {
  expect(run({})).toMatchObject({ status: 0, stdout: "123" });
});

test("a process in production refuses FAIL_AT", () => {
  const { status, stderr } = run({ FAIL_AT: "here:1", NODE_ENV: "production" });
  expect(status).toBe(1);
  expect(stderr).toContain("FAIL_AT");
});
