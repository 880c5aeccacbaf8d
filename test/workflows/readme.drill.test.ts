import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "#infra/embedded/freePort.ts";
import { openCommandLine } from "../cli/svc.ts";
import { testFolder } from "../harness.ts";

/* The commands of the README, the tutorial and the guides, pasted into a shell. */

const root = fileURLToPath(new URL("../..", import.meta.url));
const readme = readFileSync(join(root, "README.md"), "utf8");
const blockUnder = (heading: string, nth = 1): string => readme.split(`## ${heading}\n`)[1]!.split("```")[2 * nth - 1]!;
const documents = blockUnder("Ask your documents");
const tutorial = readFileSync(join(root, "docs/tutorial.md"), "utf8");
const ownTools = blockUnder("Ask an agent", 2);
/** What the blocks after them use: variables and functions. */
const namesOf = (block: string): string[] =>
  block.split("\n").filter((line) => /^([A-Z]+=(?!\$\(ask)|[a-z]+\(\))/.test(line));
const names = namesOf(documents);

let folder: string;
let end: () => Promise<unknown>;
beforeAll(async () => {
  const { env, start: begin } = await openCommandLine();
  env["PORT"] = String(await freePort());
  folder = await testFolder();
  symlinkSync(env["DATA_DIR"]!, join(folder, ".data"));
  symlinkSync(join(root, "examples"), join(folder, "examples"));
  const running = begin("all");
  const ended = once(running, "exit");
  end = () => (running.kill(), ended);
  for await (const line of createInterface(running.stdout)) if (line.startsWith("Ctrl-C")) break;
});
afterAll(() => end());

async function paste(lines: string): Promise<string> {
  const { PATH = "", HOME = "" } = process.env;
  const options = { cwd: folder, env: { PATH, HOME } };
  return (await promisify(execFile)("bash", ["-e", "-o", "pipefail", "-c", lines], options)).stdout;
}

/** What was answered, a line each. */
const answersOf = (printed: string) =>
  printed
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

test("the README's block on documents finds the documents, and answers from them", async () => {
  const [made, pdf, docx, pptx, listed, found, answered, ...more] = answersOf(await paste(documents));
  expect(made).toMatchObject({ slug: "staff" });
  expect([pdf, docx, pptx].map(({ name }) => name)).toEqual(["handbook.pdf", "handbook.docx", "handbook.pptx"]);
  expect(listed.data.map(({ status }: any) => status)).toEqual(["ready", "ready", "ready"]);
  expect(found.results[0].document.name).toBe("handbook.pdf");
  expect(found.results[0].passages[0].content).toContain("home");
  expect(answered.choices[0].message.content).toContain("home");
  expect(more).toEqual([]);
});

test("the README's lines on agents return the same answer, buffered and streamed", async () => {
  const printed = await paste([...names, blockUnder("Ask an agent")].join("\n"));
  const [whole, ...streamed] = printed.split(/\n(?=event: )/);
  expect(JSON.parse(whole!)).toMatchObject({ status: "completed" });
  expect(streamed.at(-1)).toMatch(/^event: response\.completed\n/);
});

test("the README's lines let an agent's caller run a client tool", async () => {
  const agent = namesOf(blockUnder("Ask an agent"));
  const [changed, answered, ...more] = answersOf(await paste([...names, ...agent, ownTools].join("\n")));
  expect(changed).toMatchObject({ client_tools: true });
  expect(answered).toMatchObject({ status: "completed" });
  expect(answered.output.at(-1).content[0].text).toContain("Rain");
  expect(more).toEqual([]);
});

test("the README's lines save, register, start, approve and complete a workflow", async () => {
  const printed = await paste([...names, ...namesOf(ownTools), blockUnder("Run a workflow")].join("\n"));
  const [waiting, decided, done] = answersOf(printed);
  expect(waiting).toMatchObject({ status: "running", result: null, error: null });
  expect(decided).toMatchObject({ status: "approved", comment: "fine", name: "manager" });
  expect(done).toMatchObject({ status: "completed", result: { refunded: true }, error: null });
});

/** The blocks of a page that are to be pasted. */
const blocksOf = (page: string): string[] => [...page.matchAll(/```sh\n([^]*?)```/g)].map(([, lines = ""]) => lines);
/** What a guide prints after the first block of the tutorial, a line each. */
async function follow(guide: string): Promise<string[]> {
  const page = readFileSync(join(root, `docs/guides/${guide}.md`), "utf8");
  return (await paste([blocksOf(tutorial)[0], ...blocksOf(page)].join("\n"))).trim().split("\n");
}

test("the guide to documents uploads, searches and asks", async () => {
  const lines = await follow("ask-documents");
  expect(lines[2]).toBe("0");
  expect(lines.slice(3, -1).join(" ")).toContain("home");
  expect(lines.at(-1)).toMatch(/^http.*\/documents\//);
}, 60_000);

test("the guide to agents creates an agent with a tool, a second version and a budget", async () => {
  expect(await follow("build-an-agent")).toEqual(["completed", "2", "2 1", "1", "guide_stock", "0"]);
});

test("the guide to webhooks starts one run for two deliveries, and replaces the secret", async () => {
  expect(await follow("receive-a-webhook")).toEqual(["one run", "booked A-17", "whsec", "401"]);
}, 60_000);

test("the guide to audits finds the request, its prompt and its events", async () => {
  const [reason, question, finish, hasTokens, events, hasEvents, isOfOne, fits, type] = await follow("audit-an-answer");
  expect([reason, question, finish, hasTokens]).toEqual(["stop", "Why this answer?", "stop", "true"]);
  expect(events).toMatch(/^\w*TurnStarted .*TurnCompleted$/);
  expect([hasEvents, isOfOne, fits, type]).toEqual(["true", "true", "fit: true", expect.stringMatching(/^[A-Z]\w+$/)]);
});

test("the tutorial leads to an answer with its citation, and to an approved refund", async () => {
  const printed = await paste(blocksOf(tutorial).join("\n"));
  const [name, ...lines] = printed.trim().split("\n");
  expect(name).toBe("handbook.pdf");
  const [citation, tool, title, decision, refunded, events] = lines.slice(-6);
  expect(lines.slice(0, -6).join(" ")).toContain("home");
  expect(citation).toMatch(/^http.*\/documents\/.*#page=\d+$/);
  expect([tool, title, decision, refunded]).toEqual(["search_documents", "Refund 900 for A-17?", "approved", "true"]);
  expect(events).toMatch(/^RunCreated .*RunCompleted$/);
}, 60_000);
