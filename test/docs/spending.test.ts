import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { clientOf } from "../http/service.ts";
import { openPeople } from "../accounts/people.ts";
import { ALONE } from "../sharedPlatform.ts";

/* The examples of docs/spending.md, in their order. */

interface Example {
  method: string;
  path: string;
  body: unknown;
  /** What the page shows of the answer. */
  shows: object | undefined;
}

function readExamples(): Example[] {
  const page = readFileSync(new URL("../../docs/spending.md", import.meta.url), "utf8");
  const blocks = [...page.matchAll(/```http\n(\S+) \/api(\S+)\n(?:\n([^`]+))?```(?:\n\n```json\n([^`]+)```)?/g)];
  return blocks.map(([, method = "", path = "", body, shows]) => ({
    method,
    path,
    body: body && JSON.parse(body),
    shows: shows && JSON.parse(shows),
  }));
}

test("the examples of docs/spending.md run, and are answered as the page says", async () => {
  const { service, owner, api } = await openPeople(ALONE);
  const key = clientOf({ chat: api }, service.credentials.api_key);
  const examples = readExamples();
  expect(examples.length).toBeGreaterThan(2);
  for (const { method, path, body, shows } of examples) {
    const answer = await (path.startsWith("/openai/") ? key : owner)(method, path, body);
    expect(answer.status, `${method} ${path}: ${answer.text}`).toBe(200);
    if (shows) expect(answer.body).toMatchObject(shows);
  }
});
