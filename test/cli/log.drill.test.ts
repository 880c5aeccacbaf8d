import { once } from "node:events";
import { expect, test } from "vitest";
import { newId, streamName } from "#events/ids.ts";
import { change } from "#test/log/log.ts";
import { openWithEightEvents } from "./events.ts";

const { cli, its } = await openWithEightEvents();

const tail = async (...args: string[]) => {
  const { stdout, stderr, code } = await cli.svc("log", "tail", "--json", ...args);
  expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
  return stdout
    .trim()
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
};
const positions = async (...args: string[]) => (await tail(...args)).map((event) => event.position);

test("svc log tail prints the last events, newest last", async () => {
  expect(await positions("--limit", "3")).toEqual([6, 7, 8]);
  expect(await positions("--after", "2", "--limit", "3")).toEqual([3, 4, 5]);
  expect(await positions("--after", "5")).toEqual([6, 7, 8]);
});

test("svc log tail filters by stream, type and organization", async () => {
  expect(await positions("--stream", its.sessions[2]!)).toEqual([3]);
  expect(await positions("--type", "OrganizationCreated")).toEqual([7]);
  expect(await positions("--organization", its.other)).toEqual([8]);
  expect(await positions("--organization", its.other, "--type", "OrganizationCreated")).toEqual([]);
});

test("svc log tail decrypts personal fields only with --personal, and escapes a terminal's control characters", async () => {
  const [sealed] = await tail("--type", "OrganizationCreated");
  expect(sealed.personal).toBeUndefined();
  const [opened] = await tail("--type", "OrganizationCreated", "--personal");
  expect(opened.personal.name).toContain("Ada & Söhne");
  const { stdout } = await cli.svc("log", "tail", "--personal");
  expect(stdout).toContain(String.raw`Ada & Söhne \u2028 \u009b31m`);
  expect(stdout.trim().split("\n")).toHaveLength(8);
});

test("svc log tail --follow prints new events", async () => {
  const following = cli.start("log", "tail", "--follow", "--json", "--limit", "1");
  following.stdout.setEncoding("utf8");
  const [first] = await once(following.stdout, "data");
  expect(JSON.parse(first).position).toBe(8);
  const stream = streamName("session", newId());
  await its.log.append(change(stream));
  const [next] = await once(following.stdout, "data");
  expect(JSON.parse(next)).toMatchObject({ position: 9, stream, type: "SessionEnded" });
  following.kill();
  await once(following, "exit");
});

test("a command with invalid arguments prints one line", async () => {
  for (const args of [
    ["log", "tail", "--limit", "none"],
    ["log", "tial"],
    ["log", "verify", "--expect", "12"],
    ["log", "verify", "--file", "nowhere.jsonl"],
  ]) {
    const { code, stdout, stderr } = await cli.svc(...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr.trim().split("\n")).toHaveLength(1);
    expect(stderr).not.toContain("    at ");
  }
});

test("a tool without a database prints one line with the next step", async () => {
  const gone = await cli.svcWith({ DATABASE_URL: "postgres://svc:secret@127.0.0.1:1/svc" }, "log", "tail");
  expect(gone.code).toBe(1);
  expect(gone.stderr).toMatch(/^PostgreSQL at 127\.0\.0\.1:1 cannot be used .*DATABASE_URL is correct\.\n$/);
  const unnamed = await cli.svcWith({ DATABASE_URL: "" }, "log", "tail");
  expect(unnamed.stderr).toMatch(/^No service is running on .*npm start, or set DATABASE_URL\.\n$/);
});
