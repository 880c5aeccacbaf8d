import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createSocketServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "#infra/embedded/freePort.ts";
import { testFolder } from "#test/harness.ts";

const main = fileURLToPath(new URL("../main.ts", import.meta.url));
const NO_ID = "00000000-0000-0000-0000-000000000000";
/** Port 1: nothing listens there. */
const UNREACHABLE = {
  DATABASE_URL: "postgres://svc:hidden@127.0.0.1:1/svc",
  MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
};
let folder: string;

beforeAll(async () => {
  folder = await testFolder();
  mkdirSync(join(folder, "blobs"));
  writeFileSync(join(folder, "file"), "");
});

const optionsWith = (env: Record<string, string>) => ({
  env: { PATH: process.env["PATH"], DATA_DIR: folder, ...env },
  cwd: folder,
});

/** What the command prints before it exits with code 1. */
const output = async (args: string[], env: Record<string, string>): Promise<string> =>
  (await promisify(execFile)(process.execPath, [main, ...args], optionsWith(env))).stdout;

/** What the command writes to stderr before it exits with code 1. */
const refusal = (args: string[], env: Record<string, string> = {}): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile(process.execPath, [main, ...args], optionsWith(env), (error, stdout, stderr) =>
      error?.code === 1 ? resolve(stderr) : reject(error ?? new Error(`It ended well: ${stdout}`)),
    );
  });

test.each([["backup", "--out", "new"], ["migrate"]])(
  "%s names the database that does not answer, its setting, and no password",
  async (...args) => {
    expect(await refusal(args, UNREACHABLE)).toBe(
      "PostgreSQL at 127.0.0.1:1 cannot be used (connect ECONNREFUSED 127.0.0.1:1): check that it runs and that DATABASE_URL is correct.\n",
    );
  },
);

test("a database that cannot be reached is named with the reason, also with a comma in its password", async () => {
  const DATABASE_URL = "postgres://svc:hid,den@127.0.0.1:1/svc";
  expect(await refusal(["log", "tail"], { ...UNREACHABLE, DATABASE_URL })).toBe(
    "PostgreSQL at 127.0.0.1:1 cannot be used (connect ECONNREFUSED 127.0.0.1:1): check that it runs and that DATABASE_URL is correct.\n",
  );
});

test("a service that cannot be reached is named with the reason", async () => {
  const host = `127.0.0.1:${await freePort()}`;
  const list = ["definitions", "list", "--url", `http://${host}`];
  expect(await refusal(list, { SVC_SESSION: "sess-1" })).toBe(
    `The service at http://${host} gave no answer (connect ECONNREFUSED ${host}): start it, or set --url or SVC_URL.\n`,
  );
});

test("a database that accepts connections but stays silent does not block a command forever", async () => {
  const silent = createSocketServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  const DATABASE_URL = `postgres://svc:hidden@127.0.0.1:${port}/svc`;
  const said = await refusal(["backup", "--out", "new"], { ...UNREACHABLE, DATABASE_URL });
  expect(said).toBe(
    `PostgreSQL at 127.0.0.1:${port} cannot be used (no answer within 5 s): check that it runs and that DATABASE_URL is correct.\n`,
  );
  silent.close();
});

test("a folder of data without blobs is not backed up", async () => {
  const backup = refusal(["backup", "--out", "new"], { ...UNREACHABLE, DATA_DIR: join(folder, "other") });
  expect(await backup).toBe(
    `${join(folder, "other", "blobs")} does not exist: set DATA_DIR to the folder that the service uses.\n`,
  );
});

test("a backup that lacks blobs is refused before anything is written", async () => {
  const [from, of] = [join(folder, "backup"), "2026-12-01T09:00:00.000Z"];
  const tip = { position: 1, hash: "0".repeat(64) };
  mkdirSync(from);
  const manifest = { format: 1, created_at: of, tip, migrations: ["0001.sql"], tables: [], blobs: 2 };
  writeFileSync(join(from, "manifest.json"), JSON.stringify(manifest));
  expect(await refusal(["restore", "--from", from], UNREACHABLE)).toContain("has 0 of the 2 blobs of the backup");
});

test.each([
  [["log", "verify", "--file", ""], "option '--file <file>' argument '' is invalid. It must name a file or a folder"],
  [["log", "export", "--out", ""], "option '--out <file>' argument '' is invalid. It must name a file or a folder"],
  [["log", "verify", "--file", "blobs"], "is a folder: name a file."],
  [["run", "blobs"], "is a folder: name a file."],
  [["backup", "--out", "file"], "file is not a folder, or a part of the path is a file: name a folder."],
  [["org", "create", ""], "argument 'name'. It must have 1 to 200 characters."],
  [["org", "create", "ü".repeat(201)], "argument 'name'. It must have 1 to 200 characters."],
])("the command %s is refused with what would be right", async (args, message) => {
  expect(await refusal(args, UNREACHABLE)).toContain(message);
});

test("an export that begins after the compared position is not reported as a damaged log", async () => {
  const [hash, tip] = ["0".repeat(64), { position: 5, hash: "1".repeat(64) }];
  const proof = { stream: "erasure-1", version: 1, event: "ErasureStarted", recorded_at: new Date(0), hash };
  const erasure = [
    { type: "certificate", ...proof, organization_id: NO_ID, owner: "user:zoe", started_by: "user:ann" },
    { type: "end", ...proof, version: 2, event: "ErasureCompleted", erased: 0 },
  ];
  const lines = (all: object[]) => all.map((line) => `${JSON.stringify(line)}\n`).join("");
  writeFileSync(join(folder, "later.jsonl"), lines([{ from: tip }, { tip }]));
  writeFileSync(join(folder, "erasure.jsonl"), lines(erasure));
  const verify = ["log", "verify", "--file", "later.jsonl"];
  expect(await refusal([...verify, "--expect", `3:${hash}`])).toBe(
    "The export begins after position 5, so it cannot have position 3: verify an export from the log's beginning.\n",
  );
  expect(await refusal([...verify, "--certificate", "erasure.jsonl"])).toContain(
    "so it lacks events that the certificate names: verify an export",
  );
  expect(await refusal([...verify, "--expect", `6:${hash}`])).toMatch(/^The log is damaged at position 6: /);
});

describe("a command at a service:", () => {
  const refusals: Record<string, object> = {
    "/api/definitions": { code: "invalid_api_key", message: "The API key is unknown." },
    [`/api/erasures/${NO_ID}`]: { code: "erasure_not_found", message: "No erasure has this id." },
  };
  const twins = ["workflow", "tool"].map((type) => ({ id: type, type, name: "refund", version: 1 }));
  const answers: Record<string, object> = {
    "/api/definitions": { data: twins, total: twins.length },
    "/api/definitions/workflow": { source: "// the workflow" },
    "/api/definitions/tool": { source: "// the tool" },
    "/api/definitions/tool/versions": { data: [] },
  };
  /** A service that knows the session `known`. */
  const service = createServer(({ url = "", headers }, response) => {
    const [path, isKnown] = [url.split("?")[0]!, headers.authorization === "Bearer known"];
    response.writeHead(isKnown ? 200 : 400).end(JSON.stringify(isKnown ? answers[path] : { error: refusals[path] }));
  });
  let SVC_URL: string;

  beforeAll(async () => {
    await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
    SVC_URL = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    const admin = { email: "first@example.org", password: "hidden" };
    writeFileSync(join(folder, "credentials.json"), JSON.stringify({ base_url: SVC_URL, admin }));
  });
  afterAll(() => void service.close());

  test("half of an account does not become the first owner", async () => {
    const next = "set both SVC_EMAIL and SVC_PASSWORD, or neither.\n";
    expect(await refusal(["definitions", "list"], { SVC_EMAIL: "v@example.org" })).toBe(
      `SVC_PASSWORD is missing: ${next}`,
    );
    expect(await refusal(["definitions", "list"], { SVC_PASSWORD: "x" })).toBe(`SVC_EMAIL is missing: ${next}`);
  });

  test("a session that is none is named by its setting", async () => {
    expect(await refusal(["definitions", "list"], { SVC_URL, SVC_SESSION: "x" })).toContain(
      "SVC_SESSION is no session",
    );
  });

  test("an erasure that does not exist is not reported as running", async () => {
    expect(await refusal(["erasures", "wait", NO_ID], { SVC_URL, SVC_SESSION: "x" })).toBe(
      "No erasure has this id: svc erasures list shows all of them.\n",
    );
  });

  test("an erasure does not begin if its certificate cannot be written", async () => {
    const start = ["erasures", "start", "user:zoe", "--certificate"];
    const env = { SVC_URL, SVC_SESSION: "x" };
    expect(await refusal([...start, "file"], env)).toBe("file exists already: name a new file.\n");
    expect(await refusal([...start, "none/certificate"], env)).toContain("The folder none does not exist: create it");
    expect(await refusal([...start, "new.jsonl", "--no-wait"], env)).toContain(
      "leave out --no-wait, or get it later with svc erasures wait ID --certificate FILE.",
    );
    expect(await refusal(["erasures", "wait", NO_ID, "--certificate", "file"], env)).toContain("file exists already");
  });

  test("a pull finds the files of definitions also beside one that cannot be read, which it names", async () => {
    const into = join(folder, "beside");
    mkdirSync(into);
    writeFileSync(join(into, "money.ts"), 'export const meta = { name: "refund" };\nexport const execute = () => 1;\n');
    writeFileSync(join(into, "broken.ts"), "export const run = ;\n");
    const said = await output(["definitions", "pull", into, "--force"], { SVC_URL, SVC_SESSION: "known" });
    expect(said).toMatch(/broken\.ts:1:20: .*: taken for the workflow broken\n/);
    expect(readFileSync(join(into, "money.ts"), "utf8")).toBe("// the tool");
    expect(readFileSync(join(into, "refund.ts"), "utf8")).toBe("// the workflow");
    expect(readFileSync(join(into, "broken.ts"), "utf8")).toBe("export const run = ;\n");
  });

  test("a pull into a folder with two files of one definition changes neither", async () => {
    const into = join(folder, "twins");
    mkdirSync(into);
    for (const name of ["one.ts", "two.ts"])
      writeFileSync(join(into, name), 'export const meta = { name: "refund" };\nexport const execute = () => 1;\n');
    expect(await refusal(["definitions", "pull", into], { SVC_URL, SVC_SESSION: "known" })).toMatch(
      /two\.ts and .*one\.ts are both the tool refund: give one another meta\.name\./,
    );
  });

  test("a pull of a tool and a workflow of one name ends with 1, and the second does not overwrite the first", async () => {
    const args = ["definitions", "pull", "pulled", "--force"];
    await refusal(args, { SVC_URL, SVC_SESSION: "known" });
    expect(readFileSync(join(folder, "pulled", "refund.ts"), "utf8")).toBe("// the workflow");
  });
});
