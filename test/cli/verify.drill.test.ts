import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { CHAINED_ROWS, linkHash, type ChainedRow } from "#infra/postgres/verify.ts";
import { testFolder } from "#test/harness.ts";
import { change, named } from "#test/log/log.ts";
import { openWithEightEvents, type CommandLine, type EightEvents } from "./events.ts";
import { json, type CommandOutput } from "./svc.ts";

let cli: CommandLine;
let its: EightEvents;
beforeEach(async () => {
  ({ cli, its } = await openWithEightEvents());
});

const NO_DATABASE = { DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" };
const damagedAt = (ran: CommandOutput) => {
  expect(ran.code).toBe(1);
  expect(ran.stdout).toBe("");
  return /damaged at position (\d+): (.+)\. Do not change it/.exec(ran.stderr)?.slice(1, 3);
};

test("svc log verify finds an intact log, prints its tip, and finds an earlier tip in it", async () => {
  const first = json(await cli.svc("log", "verify", "--json"));
  expect(first).toEqual({ ok: true, from: 0, position: 8, hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
  const { rows } = await its.pool.query("select encode(hash, 'hex') as hash from log.events where position = 5");
  const expected = await cli.svc("log", "verify", "--expect", `5:${rows[0].hash}`);
  expect(expected.code).toBe(0);
  expect(expected.stdout).toContain("The expected tip at position 5 is part of it.");
  expect(expected.stdout).toContain(`--expect 8:${first.hash}`);

  expect(damagedAt(await cli.svc("log", "verify", "--expect", `6:${rows[0].hash}`))?.[0]).toBe("6");
  expect(damagedAt(await cli.svc("log", "verify", "--expect", `9:${rows[0].hash}`))).toEqual([
    "9",
    "the expected event does not exist",
  ]);
});

test("svc log verify reports the position of an altered event", async () => {
  await its.pool.query(`update log.events set data = replace(data, '{', '{ ') where position = 4`);
  expect(damagedAt(await cli.svc("log", "verify"))).toEqual([
    "4",
    `SessionEnded of ${its.sessions[3]} is not what was written`,
  ]);
  const ran = await cli.svc("log", "verify", "--json");
  expect(ran.code).toBe(1);
  expect(json(ran)).toMatchObject({ ok: false, position: 4 });
});

test("svc log verify detects a shifted border between fields, although the hashed bytes are the same", async () => {
  const last = named("sealed");
  await its.log.append(change(last.stream, last));
  await its.pool.query("update log.events set sealed = '\\x0a'::bytea || sealed where position = 9");
  const { rows } = await its.pool.query<ChainedRow>(CHAINED_ROWS, [7, 9]);
  const hash = linkHash(rows[0]!.hash, rows[1]!);
  await its.pool.query("update log.events set hash = decode($1, 'hex') where position = 9", [hash]);
  await its.pool.query("update log.head set hash = decode($1, 'hex')", [hash]);
  expect((await cli.svc("log", "verify")).code).toBe(0);

  await its.pool.query(
    "update log.events set thing = thing || E'\\n', sealed = substring(sealed from 2) where position = 9",
  );
  expect(damagedAt(await cli.svc("log", "verify"))?.[0]).toBe("9");
});

test("svc log verify reports the position of a removed event", async () => {
  await its.pool.query("delete from log.events where position = 3");
  expect(damagedAt(await cli.svc("log", "verify"))).toEqual(["3", "the event is missing"]);
});

test("svc log verify detects a truncated log, and with --expect even a log whose head was moved back", async () => {
  const { hash } = json(await cli.svc("log", "verify", "--json"));
  await its.pool.query("delete from log.events where position > 6");
  expect(damagedAt(await cli.svc("log", "verify"))?.[0]).toBe("7");
  await its.pool.query(
    "update log.head set (position, hash) = (select position, hash from log.events where position = 6)",
  );
  expect((await cli.svc("log", "verify")).code).toBe(0);
  expect(damagedAt(await cli.svc("log", "verify", "--expect", `8:${hash}`))?.[0]).toBe("8");
});

test("svc log verify --file verifies an export without a database, and finds the same hash", async () => {
  const file = join(await testFolder(), "log.jsonl");
  expect(await cli.svc("log", "export", "--out", file)).toMatchObject({ code: 0, stdout: "" });
  const live = json(await cli.svc("log", "verify", "--json"));
  const elsewhere = await cli.svcWith(
    NO_DATABASE,
    "log",
    "verify",
    "--file",
    file,
    "--json",
    "--expect",
    `${live.position}:${live.hash}`,
  );
  expect(json(elsewhere)).toEqual(live);
  const { stdout } = await cli.svc("log", "export");
  expect(stdout).toBe(await readFile(file, "utf8"));
});

test("svc log export --after exports the newer events, with the preceding hash of the chain", async () => {
  const file = join(await testFolder(), "log.jsonl");
  await cli.svc("log", "export", "--after", "5", "--out", file);
  expect(json(await cli.svc("log", "verify", "--file", file, "--json"))).toMatchObject({
    ok: true,
    from: 5,
    position: 8,
  });
  const beyond = await cli.svc("log", "export", "--after", "9");
  expect(beyond).toMatchObject({ code: 1, stderr: "There is no event at position 9: the log ends at 8.\n" });
});

test("svc log verify reports the position at which an export was altered or truncated", async () => {
  const file = join(await testFolder(), "log.jsonl");
  await cli.svc("log", "export", "--out", file);
  const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
  const verifying = async (changed: string[]) => {
    await writeFile(file, `${changed.join("\n")}\n`);
    return damagedAt(await cli.svcWith(NO_DATABASE, "log", "verify", "--file", file))?.[0];
  };
  // line 0 is the chain's start, line n is the event at position n
  expect(await verifying(lines.with(4, lines[4]!.replace("SessionEnded", "SessionEnder")))).toBe("4");
  expect(await verifying(lines.toSpliced(6, 1))).toBe("6");
  expect(await verifying(lines.slice(0, -1))).toBe("9");
  expect(await verifying(lines.toSpliced(8, 1))).toBe("8");
  expect(await verifying(lines.with(5, "{ torn"))).toBe("5");
  expect(await verifying([...lines, lines[8]!])).toBe("8");
});
