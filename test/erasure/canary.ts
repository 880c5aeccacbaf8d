import { randomBytes } from "node:crypto";
import { expect, vi } from "vitest";
import { clientOf, fileForm, signIn } from "../http/service.ts";
import { openReader } from "../knowledge/library.ts";

type Call = ReturnType<typeof clientOf>;
type Answer = Awaited<ReturnType<Call>>;

/** A random word that occurs nowhere else. */
export const newCanary = (): string => `canary${randomBytes(13).toString("hex")}`;

async function succeed(answer: Promise<Answer>): Promise<Answer> {
  const { status, text } = await answer;
  expect(status, text).toBeLessThan(300);
  return answer;
}

interface Deployment {
  url: string;
  credentials: { api_key: string; admin: { email: string; password: string } };
}

/** Puts the canary into every text that a client can send. The returned function deletes all of it. */
export async function plantCanary({ url, credentials }: Deployment, canary: string): Promise<() => Promise<void>> {
  const { api_key, admin } = credentials;
  const chat = clientOf({ chat: `${url}/api/openai/v1` }, api_key);
  const { call: person } = await signIn(url, admin);
  const library = openReader(url, api_key);
  const createdId = async (call: Promise<Answer>): Promise<string> => (await succeed(call)).body.id;

  const form = fileForm(`A file with ${canary}.`, `${canary}.txt`, { fields: { user: canary } });
  const file = await createdId(chat("POST", "/files", form));
  const inline = { filename: `${canary}.txt`, file_data: `data:text/plain;base64,${btoa(`Inline ${canary}`)}` };
  const completion = (stream: boolean) => ({
    model: "offline/echo",
    user: canary,
    stream,
    metadata: { [canary]: canary },
    attachments: [file],
    messages: [
      { role: "system", content: `Remember ${canary}.` },
      {
        role: "user",
        content: [
          { type: "text", text: `I say ${canary}.` },
          { type: "file", file: inline },
        ],
      },
    ],
  });
  const threads: string[] = [];
  for (const stream of [false, true])
    threads.push((await succeed(chat("POST", "/chat/completions", completion(stream)))).headers.get("x-thread-id")!);

  const { id: collection, slug } = (
    await succeed(library.call("POST", "/collections", { name: `Shelf ${canary}`, description: canary }))
  ).body;
  const content = `# On ${canary}\n\nThis is a text about ${canary}, in words.`;
  const uploaded = await library.keep(slug, { content, name: `${canary}.md`, fields: [["tags", canary]] });
  const pushed = await createdId(library.push(slug, { text: `${content} Pushed.`, name: canary, external_id: canary }));
  expect([uploaded.status, (await library.ended(pushed)).status]).toEqual(["ready", "ready"]);
  const found = await vi.waitFor(() => succeed(library.search({ query: canary })), { timeout: 60_000, interval: 100 });
  expect(found.body.results).toHaveLength(2);
  const extraction = await createdId(library.extract({ content: `${content} Extracted.`, name: `${canary}.md` }));
  expect((await library.extracted(extraction)).markdown).toContain(canary);

  const instructions = `Always say ${canary}.`;
  const agent = await createdId(person("POST", "/agents", { name: canary, instructions, model: "offline/echo" }));
  const responses = clientOf({ chat: `${url}/api/agents/${agent}/v1` }, api_key);
  const request = { input: `To the agent: ${canary}.`, user: canary, vars: { canary }, instructions };
  const response = await createdId(responses("POST", "/responses", request));
  const project = await createdId(person("POST", "/projects", { name: canary }));
  const key = await createdId(person("POST", "/keys", { name: canary }));
  const member = { email: `${canary}@example.com`, name: canary, role: "viewer" };
  const memberId = await createdId(person("POST", "/members", member));

  const user = `?user=${canary}`;
  return async () => {
    for (const thread of threads) await succeed(chat("DELETE", `/threads/${thread}${user}`));
    await succeed(chat("DELETE", `/files/${file}${user}`));
    await succeed(library.call("DELETE", `/documents/${uploaded.id}`));
    await succeed(library.call("DELETE", `/documents/${pushed}`));
    await succeed(library.call("DELETE", `/collections/${collection}`));
    await succeed(library.call("DELETE", `${url}/api/v1/extractions/${extraction}`));
    await succeed(responses("DELETE", `/responses/${response}${user}`));
    await succeed(person("DELETE", `/agents/${agent}`));
    await succeed(person("DELETE", `/projects/${project}`));
    await succeed(person("DELETE", `/keys/${key}`));
    await succeed(person("DELETE", `/members/${memberId}`));
  };
}
