import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { testFolder } from "#test/harness.ts";
import { belongings } from "../accounts/tenants.ts";
import { jsonLines } from "../jsonLines.ts";
import { openWorkflows } from "../workflows/harness.ts";
import { svc } from "./localDefinition.ts";

/* `svc export` and `svc erasures` against a running service. */

const w = await openWorkflows();
const home = await w.join("Privacy");

const run = (args: string[], env: Record<string, string> = {}) =>
  svc(args, "", { SVC_URL: w.url, SVC_SESSION: home.token, ...env });
async function ok(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(args);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout;
}

/** An external user with two threads and a file. */
async function leaveThings(): Promise<string> {
  const user = `zoe-${newId()}@example.com`;
  const { say, upload } = belongings(home);
  for (const text of ["One", "Two"]) await say(home.key, text, { user });
  await upload(home.key, "Mine", user);
  return `user:${user}`;
}
const threadsOf = async (subject: string): Promise<number> => {
  const { threads } = await home.made(home.owner("POST", "/erasures/preview", { owner: subject }));
  return threads.count;
};

describe("svc erasures", () => {
  test("a dry run lists what would be deleted and what a hold keeps, and changes nothing", async () => {
    const subject = await leaveThings();
    const thread = jsonLines((await run(["export", subject])).stdout).find(({ type }) => type === "thread").id;
    const hold = { subject: `thread:${thread}`, name: "Case 7", reason: "A claim" };
    const { id } = await home.made(home.owner("POST", "/holds", hold));
    const dry = await ok("erasures", "start", subject, "--dry-run");
    expect(dry).toMatch(/^An erasure of user:zoe-.* would delete:\nKIND +COUNT +OLDEST\nthreads +1 +20/);
    expect(dry).toMatch(/\nfiles +1 +20.*\nruns +0 +-\n/);
    expect(dry).toContain(`The hold Case 7 (${id}) of thread:${thread} keeps 1 thread until its release.`);
    const some = await ok("erasures", "start", subject, "--dry-run", "--kinds", "files");
    expect(some).toMatch(/\nthreads +0 +-\nfiles +1 /);
    expect(await threadsOf(subject)).toBe(1);
    await home.made(home.owner("DELETE", `/holds/${id}`));
  });

  test("erase, wait, and write the certificate, which the log proves", async () => {
    const subject = await leaveThings();
    const file = join(await testFolder(), "erasure.jsonl");
    const said = await ok("erasures", "start", subject, "--certificate", file);
    const [, id] = /^Erased 2 threads, 1 file of user:\S+: erasure (\S+)\nWrote .*erasure\.jsonl: /.exec(said) ?? [];
    expect(await threadsOf(subject)).toBe(0);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const certificate = readFileSync(file, "utf8");
    expect(jsonLines(certificate).at(-1)).toMatchObject({ type: "end", erased: 3 });
    const again = await run(["erasures", "certificate", id!]);
    expect(again).toMatchObject({ code: 0, stdout: certificate, stderr: "The certificate names 3 deletions\n" });
    // the only copy of a certificate is not replaced
    const twice = await run(["erasures", "certificate", id!, "--out", file]);
    expect([twice.code, twice.stderr]).toEqual([1, `${file} exists already: name a new file.\n`]);
    expect(await ok("erasures", "list")).toMatch(
      new RegExp(`^ID .*\\n${id} +user:\\S+ +completed +20\\S+ +2 threads, 1 file\\n`),
    );
    expect(JSON.parse(await ok("erasures", "list", "--json"))[0]).toMatchObject({ id, threads_deleted: 2 });
  });

  test("print the id if they do not wait, and another call waits for the end", async () => {
    const subject = await leaveThings();
    const id = (await ok("erasures", "start", subject, "--no-wait", "--kinds", "threads")).trim();
    expect(await ok("erasures", "wait", id)).toMatch(new RegExp(`^Erased 2 threads of user:\\S+: erasure ${id}\\n$`));
    expect(await ok("erasures", "start", subject, "--dry-run")).toMatch(/\nthreads +0 .*\nfiles +1 /);
  });

  test("report what is missing: the required role, a known kind, a person", async () => {
    const { token } = await home.member("builder");
    const refused = await run(["erasures", "list"], { SVC_SESSION: token });
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/: sign in as an admin or an owner\.\n$/),
    ]);
    const keyed = await run(["erasures", "list"], { SVC_SESSION: "", SVC_API_KEY: "sk-svc-x" });
    expect(keyed.stderr).toMatch(/an API key may not export or erase what somebody has: set SVC_EMAIL/);
    const unknown = await run(["erasures", "start", "user:zoe", "--kinds", "threads,chats"]);
    expect(unknown.stderr).toMatch(/It must name some of threads, files, runs, documents, extractions/);
    expect((await run(["erasures", "wait", newId()])).stderr).toMatch(/^No erasure has this id/);
    expect((await run(["erasures", "start", "zoe"])).code).toBe(1);
  });
});

test("svc export writes a complete export to a new file and lists its content", async () => {
  const subject = await leaveThings();
  const file = join(await testFolder(), "export.jsonl");
  const { code, stdout, stderr } = await run(["export", subject, "--out", file]);
  expect([code, stdout, stderr]).toEqual([0, "", expect.stringMatching(/^Exported 2 thread, 2 turn, 1 file, /)]);
  const lines = jsonLines(readFileSync(file, "utf8"));
  expect([lines[0].subject, lines.at(-1).type]).toEqual([subject, "end"]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});
