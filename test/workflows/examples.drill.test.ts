import { createHmac } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { runTestFiles } from "../../cli/workflows/testFiles.ts";
import { openWorkflows, type Workflows } from "./harness.ts";

/* Every workflow in examples/workflows, run as docs/examples.md says. */

const FOLDER = new URL("../../examples/workflows/", import.meta.url);
const read = (name: string) => readFileSync(new URL(`${name}.ts`, FOLDER), "utf8");

let w: Workflows;
const tried = new Set<string>();
beforeAll(async () => {
  w = await openWorkflows();
});

/** Saves an example without a warning, and starts it. */
async function begin(name: string, args: object = {}, envelope: object = {}): Promise<string> {
  tried.add(name);
  const workflow = await w.home.register(read(name), envelope);
  const { definition } = workflow;
  const saved = await w.home.made(w.home.owner("GET", `/definitions/${definition.id}`));
  expect(saved.workflow.lint).toEqual([]);
  return w.home.start(workflow, args);
}
/** The result of an example that ends on its own. */
async function resultOf(name: string, args: object = {}, envelope: object = {}): Promise<any> {
  const { status, result, error } = await w.home.untilOver(await begin(name, args, envelope));
  expect([status, error]).toEqual(["completed", null]);
  return result;
}
const decideFirst = async (run: string, body: object) => {
  const [approval] = await w.home.pending(run);
  expect((await w.home.decide(approval, body)).status).toBe(200);
  return approval;
};

describe("the example", () => {
  test("hello returns a greeting", async () => {
    expect(await resultOf("hello", { name: "Ada" })).toEqual({ greeting: "Hello, Ada!" });
  });

  test("approval continues with a person's input, and handles a rejection", async () => {
    const [yes, no] = [await begin("approval", { project: "A" }), await begin("approval", { project: "B" })];
    await decideFirst(yes, { decision: "approve", data: { amount: 5 } });
    await decideFirst(no, { decision: "reject", comment: "too early" });
    expect((await w.home.untilOver(yes)).result).toEqual({ project: "A", budget: 5 });
    expect((await w.home.untilOver(no)).result).toEqual({ project: "B", refused: "too early" });
  });

  test("escalate asks the lead if the team does not answer", async () => {
    const run = await begin("escalate", { wait_ms: 1 });
    await w.home.until(run, ({ waiting_on }) => waiting_on.some(({ name }: any) => name === "lead"), 30_000);
    expect((await decideFirst(run, { decision: "approve" })).name).toBe("lead");
    expect((await w.home.untilOver(run)).result).toEqual({ by: "lead", approved: true });
  });

  test("fanOut returns the successful results and counts the failures", async () => {
    const texts = ["a", "", "abc"];
    expect(await resultOf("fanOut", { texts })).toEqual({ lengths: [1, null, 3], failed: 1 });
  });

  test("poll asks until the job is done", async () => {
    const args = { url: `${w.site.url}/job`, every: "10ms" };
    expect(await resultOf("poll", args, w.egress)).toEqual({ asked: 3 });
  });

  test("retry succeeds at the second attempt", async () => {
    const result = await resultOf("retry", { url: `${w.site.url}/order` }, w.egress);
    expect(result).toMatchObject({ attempt: 2, order: { nth: 2 } });
  });

  test("payments pays two people under two idempotency keys", async () => {
    expect(await resultOf("payments", { url: `${w.site.url}/pay` }, w.egress)).toEqual({ paid: ["ann", "bob"] });
    const keys = w.site.requests
      .filter(({ path }) => path.startsWith("/pay"))
      .map(({ headers }) => headers["idempotency-key"]);
    expect([keys.length, new Set(keys).size]).toEqual([2, 2]);
  });

  test("signedCall sends a signature that its receiver can check", async () => {
    await w.home.secret("signing_key", "a key to sign with");
    const run = await begin("signedCall", { url: `${w.site.url}/signed` }, { ...w.egress, secrets: ["signing_key"] });
    expect((await w.home.untilOver(run)).result).toBe(200);
    const sent = w.site.requests.find(({ path }) => path === "/signed")!;
    const body = JSON.stringify({ event: "done", run });
    const signature = createHmac("sha256", "a key to sign with").update(body).digest("hex");
    expect(sent.headers["x-signature"]).toBe(`sha256=${signature}`);
  });

  test("github labels a new issue from a signed GitHub webhook", async () => {
    tried.add("github");
    const secret = "the secret of the webhook";
    const workflow = await w.home.register(read("github"));
    const hook = await w.home.hook(workflow, { verify: { scheme: "github", secret }, headers: ["x-github-event"] });
    const body = JSON.stringify({ action: "opened", issue: { title: "It fails at start" } });
    const answer = await fetch(`${w.url}/api/workflows/hooks/${hook.hook_token}`, {
      method: "POST",
      body,
      headers: {
        "content-type": "application/json",
        "x-github-event": "issues",
        "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
      },
    });
    const { run_id } = (await answer.json()) as { run_id: string };
    expect((await w.home.untilOver(run_id)).result).toEqual({ label: "bug" });
  });

  test("summarize asks a model", async () => {
    const result = await resultOf("summarize", { text: "A long text.", model: "offline/echo" });
    expect(result).toEqual({ summary: "A long text.", tokens: expect.any(Number) });
  });

  test("triage sends an agent's draft once a person agrees", async () => {
    const agent = await w.home.made(w.home.owner("POST", "/agents", { name: "Helper", model: "offline/echo" }));
    const run = await begin("triage", { agent_id: agent.id, question: "Where is my order?" });
    expect((await decideFirst(run, { decision: "approve" })).body).toBe("Where is my order?");
    expect((await w.home.untilOver(run)).result).toEqual({ draft: "Where is my order?", sent: true });
  });

  test("review lets one agent review another agent's answer", async () => {
    for (const name of ["Writer", "Reviewer"]) await w.home.newAgent({ name });
    const text = "Write a paragraph about tea.";
    expect(await resultOf("review", { topic: "tea" })).toEqual({ text, reviewed: true });
  });

  test("payment waits for the event of its order", async () => {
    const run = await begin("payment", { order: "A-1" });
    await w.home.until(run, ({ waiting_on }) => waiting_on.length === 1);
    const send = (data: object) => w.home.made(w.home.owner("POST", "/workflows/events", { name: "payment", data }));
    expect((await send({ order: "A-2" })).reached).toBe(0);
    expect((await send({ order: "A-1", amount: 20 })).reached).toBe(1);
    expect((await w.home.untilOver(run)).result).toEqual({ order: "A-1", paid: true, amount: 20 });
  });

  test("delegate starts a run for each item", async () => {
    const { id } = await w.home.register(read("hello"));
    const items = [{ name: "Ada" }, { name: "Ada" }, { name: "Bob" }];
    const greetings = await resultOf("delegate", { workflow: id, items });
    expect(greetings.map(({ greeting }: any) => greeting)).toEqual(["Hello, Ada!", "Hello, Ada!", "Hello, Bob!"]);
  });

  test("watch continues as a new run", async () => {
    const run = await begin("watch", { url: `${w.site.url}/meter`, limit: 1_000, every: "1ms" }, w.egress);
    const { status, continued_as } = await w.home.untilOver(run, 30_000);
    expect(status).toBe("continued");
    await expect
      .poll(async () => (await w.home.owner("GET", `/workflows/runs/${continued_as}`)).body.args, { timeout: 10_000 })
      .toMatchObject({ limit: 1_000, every: "1ms" });
    await w.home.cancel(run);
  });

  test("report reads a file, saves one and pushes a document", async () => {
    const file = await w.home.upload("a\nb\n", w.home.owner, "orders.txt");
    const { slug } = await w.home.made(w.home.owner("POST", "/v1/knowledge/collections", { name: "Reports" }));
    tried.add("report");
    const { id } = await w.home.register(read("report"), { writable_collections: [slug] });
    const { body } = await w.home.owner("POST", `/workflows/${id}/runs`, {
      args: { file, collection: slug },
      files: [file],
    });
    const { result } = await w.home.untilOver(body.id);
    expect(result).toMatchObject({ lines: 2, document_id: expect.any(String) });
    const csv = await w.home.owner("GET", `/workflows/runs/${body.id}/files/${result.report}/content`);
    expect(csv.text).toBe("file;lines\norders.txt;2\n");
  });

  test("lookUp finds nothing if there are no documents", async () => {
    const question = "How many days of leave?";
    expect(await resultOf("lookUp", { question })).toEqual({ question, found: 0, passages: [] });
  });
});

test("every example is run, is listed on its page, and has passing cases", async () => {
  const files = readdirSync(FOLDER);
  const names = files.filter((name) => name.endsWith(".ts")).map((name) => name.replace(/\.ts$/, ""));
  expect(names.toSorted()).toEqual([...tried].toSorted());
  const page = readFileSync(new URL("../../docs/examples.md", import.meta.url), "utf8");
  for (const name of names) {
    expect(page).toContain(`(../examples/workflows/${name}.ts)`);
    expect(page).toContain(`(../examples/workflows/${name}.test.json)`);
  }
  const cases = await runTestFiles([fileURLToPath(FOLDER)]);
  expect(cases.filter(({ fault }) => fault !== null)).toEqual([]);
  expect(new Set(cases.map(({ file }) => basename(file)))).toEqual(new Set(names.map((name) => `${name}.test.json`)));
  expect(names).toHaveLength(17);
});

test("the types for an editor are available", async () => {
  const answer = await fetch(`${w.url}/workflow.d.ts`);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/plain; charset=utf-8"]);
  expect(await answer.text()).toBe(readFileSync(new URL("../../examples/workflow.d.ts", import.meta.url), "utf8"));
});
