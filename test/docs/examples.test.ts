import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { clientOf } from "../http/service.ts";
import { openPeople, type People } from "../accounts/people.ts";
import { testFolder } from "../harness.ts";
import { ALONE } from "../sharedPlatform.ts";

/* The examples of pages, in their order. */

interface Example {
  method: string;
  path: string;
  body: unknown;
  /** What the page shows of the answer. */
  shows: object | undefined;
}

const readPage = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8");

function readExamples(name: string): Example[] {
  const blocks = readPage(name).matchAll(/```http\n(\S+) \/api(\S+)\n(?:\n([^`]+))?```(?:\n\n```json\n([^`]+)```)?/g);
  return [...blocks].map(([, method = "", path = "", body, shows]) => ({
    method,
    path,
    body: body && JSON.parse(body),
    shows: shows && JSON.parse(shows),
  }));
}

async function runExamples({ service, owner, api }: People, examples: Example[]): Promise<void> {
  const key = clientOf({ chat: api }, service.credentials.api_key);
  for (const { method, path, body, shows } of examples) {
    const answer = await (path.startsWith("/openai/") ? key : owner)(method, path, body);
    expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300);
    if (shows) expect(answer.body).toMatchObject(shows);
  }
}

test.each([
  ["spending.md", ["/prices", "/usage", "/budgets", "/openai"]],
  ["privacy.md", ["/erasures", "/retention", "/holds"]],
])("the examples of docs/%s run, and return the documented answers", async (name, about) => {
  const examples = readExamples(name);
  for (const path of about) expect(examples.map((one) => one.path).join("\n")).toContain(path);
  await runExamples(await openPeople(ALONE), examples);
});

test("the example of an export in docs/privacy.md writes a whole export", async () => {
  const { login, service, api } = await openPeople();
  const { email, password } = service.credentials.admin;
  const { token } = (await login(email, password)).body;
  const folder = await testFolder();
  const lines = readPage("privacy.md").match(/```\n(curl -sG \$API\/exports[^`]+)```/)![1]!;
  const names = `API=${api}; ME='authorization: Bearer ${token}'\n`;
  await promisify(execFile)("bash", ["-e", "-c", names + lines], { cwd: folder });
  const written = (await readFile(join(folder, "export.jsonl"), "utf8")).trim().split("\n");
  expect(written.map((line) => JSON.parse(line).type)).toEqual(["export", "end"]);
});
