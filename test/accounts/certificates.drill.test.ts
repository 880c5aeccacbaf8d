import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { testFolder } from "../harness.ts";
import { fileForm } from "../http/service.ts";
import { jsonLines } from "../jsonLines.ts";
import { processEnv, startPlatform, testDeployment } from "../platform.ts";
import { code, SOON, WAITING, type Client } from "../workflows/tenant.ts";
import { openTwoTenants } from "./tenants.ts";

const main = fileURLToPath(new URL("../../main.ts", import.meta.url));

const deployment = await testDeployment();
const platform = await startPlatform({ deployment });
const { home, foreign } = await openTwoTenants(platform);
const folder = await testFolder();

const say = (by: Client, text: string) =>
  home.made(
    by("POST", "/openai/v1/chat/completions", { model: "offline/echo", messages: [{ role: "user", content: text }] }),
  );

/** Erases what a new key has: two threads, a file, a live run, a document and an extraction. */
async function erase(): Promise<{ id: string; owner: string; text: string }> {
  const key = await home.newKey();
  await Promise.all([say(key.call, "One"), say(key.call, "Two")]);
  await home.made(key.call("POST", "/openai/v1/files", fileForm("Hello", "note.md", { type: "" })));
  await home.pending(await home.start(await home.register(WAITING), {}, key.call));
  const { id: shelf } = await home.made(
    home.owner("POST", "/v1/knowledge/collections", { name: `Shelf of ${key.id}` }),
  );
  await home.made(key.call("POST", `/v1/knowledge/collections/${shelf}/documents/text`, { name: "A", text: "Words." }));
  await home.made(key.call("POST", "/v1/extractions", fileForm(`Read by ${key.id}`, "note.md", { type: "" })));
  await say(home.key, "Stays");
  const owner = `key:${key.id}`;
  const { id } = await home.made(home.owner("POST", "/erasures", { owner }));
  await expect.poll(async () => (await home.owner("GET", `/erasures/${id}`)).body.status, SOON).toBe("completed");
  const { status, text } = await home.owner("GET", `/erasures/${id}/certificate`);
  expect(status, text).toBe(200);
  return { id, owner, text };
}

/** Runs `svc log verify` with these arguments: its exit code and what it printed. */
const verify = (...args: string[]): Promise<{ code: number; text: string }> =>
  new Promise((resolve) => {
    const env = processEnv(deployment, 0);
    const child = execFile(process.execPath, [main, "log", ...args], { env }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, text: stdout + stderr }),
    );
  });
async function save(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

test("the certificate of an erasure names each deletion, and the live log and its export prove it", async () => {
  const { id, owner, text } = await erase();
  const lines = jsonLines(text);
  const hash = expect.stringMatching(/^[0-9a-f]{64}$/);
  expect(lines[0]).toMatchObject({
    type: "certificate",
    owner,
    event: "ErasureStarted",
    stream: `erasure-${id}`,
    hash,
  });
  expect(lines[0].started_by).toMatch(/^person:/);
  expect(lines.at(-1)).toMatchObject({
    type: "end",
    erased: 6,
    counts: { threads: 2, files: 1, runs: 1, documents: 1, extractions: 1 },
    event: "ErasureCompleted",
    hash,
  });
  const erased = lines.slice(1, -1).map(({ type, event }) => `${type} ${event}`);
  expect(erased.toSorted()).toEqual(
    ["DocumentDeleted", "ExtractionDeleted", "FileDeleted", "RunForgotten", "ThreadDeleted", "ThreadDeleted"].map(
      (event) => `erased ${event}`,
    ),
  );

  const file = await save("whole.jsonl", text);
  const live = await verify("verify", "--certificate", file);
  expect(live, live.text).toMatchObject({ code: 0 });
  expect(live.text).toContain(`6 things of ${owner} were erased (2 threads, 1 file, 1 run, 1 document, 1 extraction)`);
  const exported = join(folder, "log.jsonl");
  expect((await verify("export", "--out", exported)).code).toBe(0);
  expect((await verify("verify", "--file", exported, "--certificate", file)).code).toBe(0);

  // an altered certificate, one of another log's event, and one that was cut off
  const [, deletion] = lines;
  const forged = await save("forged.jsonl", text.replace(deletion.hash, "0".repeat(64)));
  expect(await verify("verify", "--certificate", forged)).toMatchObject({
    code: 1,
    text: expect.stringContaining("is not what the certificate says"),
  });
  const invented = await save(
    "invented.jsonl",
    text.replace(deletion.stream, "thread-01900000-0000-7000-8000-000000000000"),
  );
  expect(await verify("verify", "--certificate", invented)).toMatchObject({
    code: 1,
    text: expect.stringContaining("which the certificate names"),
  });
  const cut = await save("cut.jsonl", text.slice(0, text.lastIndexOf("\n", text.length - 2)));
  expect((await verify("verify", "--certificate", cut)).text).toContain("is incomplete");

  // a key that came back: from an old backup, for example
  const key = "insert into log.keys (thing, stream, wrapped) values ('turn-back', $1, 'x')";
  await platform.resources.db.query(key, [deletion.stream]);
  expect(await verify("verify", "--certificate", file)).toMatchObject({
    code: 1,
    text: expect.stringContaining("the data key of turn-back still exists"),
  });
});

test("only owners and admins of the organization get a certificate, and only after the erasure has ended", async () => {
  const { id } = await erase();
  expect(code(await foreign.owner("GET", `/erasures/${id}/certificate`))).toEqual([404, "erasure_not_found"]);
  expect((await home.key("GET", `/erasures/${id}/certificate`)).status).toBe(403);
});
